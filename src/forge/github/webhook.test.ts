import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { readWebhook } from "./webhook.js";

const secret = "s3cret";
const sign = (body: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
const send = (event: string, fields: object, headers: object = {}) => {
  const body = JSON.stringify({ repository: { full_name: "a/b" }, ...fields });
  const own = { "x-github-event": event, "x-github-delivery": "d-1", "x-hub-signature-256": sign(body) };
  return readWebhook({ headers: { ...own, ...headers }, body, secret });
};

test.each([
  ["pull_request", { pull_request: { number: 3 } }, [3], []],
  ["issue_comment", { issue: { number: 4, pull_request: {} } }, [4], []],
  ["issue_comment", { issue: { number: 4 } }, [], []],
  ["check_run", { check_run: { head_sha: "c", pull_requests: [{ number: 5 }] } }, [5], ["c"]],
  ["status", { sha: "c" }, [], ["c"]],
  ["push", { ref: "refs/heads/x" }, [], []],
])("%s with %j leads to %j and %j", async (event, fields, pullRequests, commits) => {
  expect(await send(event, fields)).toEqual({ delivery: "d-1", event, repo: "a/b", pullRequests, commits });
});

test("what is not signed with the secret is nothing", async () => {
  const fields = { pull_request: { number: 3 } };
  for (const signature of [undefined, "", "sha256=00", sign("{}")]) {
    expect(await send("pull_request", fields, { "x-hub-signature-256": signature })).toBeNull();
  }
  const body = "not JSON";
  const headers = { "x-github-event": "x", "x-github-delivery": "d", "x-hub-signature-256": sign(body) };
  expect(await readWebhook({ headers, body, secret })).toBeNull();
  expect(await readWebhook({ headers, body, secret: "" })).toBeNull();
});
