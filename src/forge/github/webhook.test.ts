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
  const notice = { delivery: "d-1", event, repo: "a/b", pullRequests, commits };
  expect(await send(event, fields)).toEqual({ type: "notice", notice });
});

test("what is not signed with the secret is refused as that, whatever it says", async () => {
  const fields = { pull_request: { number: 3 } };
  for (const signature of [undefined, "", "sha256=00", sign("{}")]) {
    expect(await send("pull_request", fields, { "x-hub-signature-256": signature })).toMatchObject({
      type: "unsigned",
    });
  }
  const headers = { "x-github-event": "x", "x-github-delivery": "d", "x-hub-signature-256": sign("{}") };
  expect(await readWebhook({ headers, body: "not JSON", secret })).toMatchObject({ type: "unsigned" });
  expect(await readWebhook({ headers, body: "{}", secret: "" })).toMatchObject({ type: "unsigned" });
});

test.each([
  ["", "the body is empty"],
  ["not JSON", "the body is no JSON object"],
  ["null", "the body is no JSON object"],
  ["[]", "the body is no JSON object"],
  ['{"repository": 5}', "repository is not as expected"],
  ['{"repository": {"full_name": "a/b"}, "pull_request": {"number": "3"}}', "pull_request.number is not as expected"],
])("signed, but of another shape: %s", async (body, reason) => {
  const headers = { "x-github-event": "x", "x-github-delivery": "d", "x-hub-signature-256": sign(body) };
  expect(await readWebhook({ headers, body, secret })).toEqual({
    type: "malformed",
    reason: expect.stringContaining(reason),
  });
});

test("a header that is missing is named, and what is about no repository leads nowhere", async () => {
  expect(await send("", {})).toMatchObject({ reason: "the header x-github-event is missing" });
  expect(await send("x", {}, { "x-github-delivery": undefined })).toMatchObject({ type: "malformed" });
  expect(await send("ping", { repository: undefined })).toMatchObject({ notice: { repo: null, pullRequests: [] } });
});
