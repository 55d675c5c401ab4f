import { createHmac } from "node:crypto";
import { request } from "node:http";
import { expect, test } from "vitest";
import { type Running, type Sandbox, sandbox, until } from "./sandbox.js";

const secret = "a secret of this test";
const agent = { agent: { type: "command", command: ["true"] } };

interface Served {
  readonly process: Running;
  readonly url: string;
  readonly token: string;
}

async function serve(box: Sandbox): Promise<Served> {
  const process = box.start(["serve", "--port", "0"], { env: { RATCHET_WEBHOOK_SECRET: secret } });
  await until("it listens", () => process.stdout().includes("token: ") || process.isEnded());
  const url = /listening on (http:\S+?),/.exec(process.stdout())?.[1] ?? "";
  return { process, url, token: /token: (\S+)/.exec(process.stdout())?.[1] ?? "" };
}

const workflow = `
workflow "plan" {
  version 2
  start "draft"
  stage "draft" kind="tool" command="echo the plan"
  stage "approve" kind="human" prompt="Is it good?" {
    option "yes" label="Approve" to="write"
    option "revise" label="Change it" to="draft"
    require_feedback_on "revise"
  }
  stage "write" kind="tool" command="echo approved > done"
  stage "exit" kind="exit"
  transition from="draft" to="approve"
  transition from="write" to="exit"
}`;

test("E7 a human gate is answered over HTTP, once: the workflow goes on, a second answer is refused", async () => {
  const box = sandbox();
  box.configure(agent);
  box.write("plan.awf.kdl", workflow);
  const served = await serve(box);
  const answer = async (body: object) => {
    const headers = { authorization: `Bearer ${served.token}` };
    const response = await fetch(`${served.url}/api/answer`, { method: "POST", headers, body: JSON.stringify(body) });
    return { status: response.status, body: await response.json() };
  };
  const first = box.start(["workflow", "run", "plan.awf.kdl"]);
  await until("the question is told", () => first.stdout().includes("answer with: ratchet answer approve"));
  const status = await fetch(`${served.url}/api/status`, { headers: { authorization: `Bearer ${served.token}` } });
  expect(await status.text()).toContain("an answer to approve: ratchet answer approve <yes|revise>");
  expect(await answer({ gate: "approve", option: "maybe" })).toMatchObject({
    status: 400,
    body: { error: { code: "unknown-option", hint: expect.stringContaining("yes (Approve)") } },
  });
  expect(await answer({ gate: "approve", option: "revise" })).toMatchObject({
    status: 400,
    body: { error: { code: "feedback-missing" } },
  });
  expect(await answer({ gate: "approve", option: "yes", feedback: 5 })).toMatchObject({ status: 400 });
  // Nobody drives it for a while: what is answered meanwhile stands, and only that.
  first.kill("SIGKILL");
  await first.ended;
  const run = (await box.record()).run_id;
  expect(await answer({ gate: `${run}/approve`, option: "yes" })).toEqual({
    status: 200,
    body: { run_id: run, stage: "approve", option: "yes", feedback: null },
  });
  expect(await answer({ gate: "approve", option: "revise", feedback: "No." })).toMatchObject({
    status: 409,
    body: { error: { code: "answered", message: "approve has been answered already: yes" } },
  });
  const second = await box.ratchet("workflow", "run", "plan.awf.kdl", "--resume", run);
  expect([second.code, box.read("done")]).toEqual([0, "approved\n"]);
  expect(await answer({ gate: "approve", option: "yes" })).toMatchObject({ status: 404 });
  served.process.kill("SIGINT");
  expect(await served.process.ended).toMatchObject({ code: 0 });
});

const signed = (body: string) => `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;

test("a webhook of odd shape is refused for what is wrong with it, and that is said; only a signature is 401", async () => {
  const box = sandbox();
  box.configure(agent);
  const { url, process } = await serve(box);
  const send = async (body: string, headers: Readonly<Record<string, string>> = {}) => {
    const own = { "content-type": "application/json", "x-github-event": "x", "x-github-delivery": "1" };
    const all = { ...own, "x-hub-signature-256": signed(body), ...headers };
    const response = await fetch(`${url}/webhooks/github`, { method: "POST", body, headers: all });
    return [response.status, /"message":"([^"]*)/.exec(await response.text())?.[1] ?? null];
  };
  const good = '{"repository": {"full_name": "acme/shop"}}';
  expect(await send(good)).toEqual([202, null]);
  expect((await fetch(`${url}/webhooks/github/`, { method: "POST" })).status).toBe(415);
  expect(await send(good, { "x-github-event": "no_such_event" })).toEqual([202, null]);
  expect(await send('{"zen": "Ping."}', { "x-github-event": "ping" })).toEqual([202, null]);
  expect(await send(good, { "x-hub-signature-256": "" })).toEqual([401, expect.stringContaining("is missing")]);
  expect(await send(good, { "x-hub-signature-256": "sha256=0" })).toEqual([401, "it is not signed with the secret"]);
  expect(await send("")).toEqual([400, "the body is empty"]);
  for (const body of ["not JSON", "[]", "null", "5"]) {
    expect(await send(body)).toEqual([400, "the body is no JSON object"]);
  }
  expect(await send('{"repository": 5}')).toEqual([400, expect.stringMatching(/^repository is not as expected/)]);
  expect(await send(good, { "x-github-event": "" })).toEqual([400, "the header x-github-event is missing"]);
  expect(await send(good, { "content-type": "text/plain" })).toEqual([415, expect.stringContaining("content type")]);
  expect(await sendInPieces(`${url}/webhooks/github`, 6)).toBe(413);
  const told = process.stderr();
  for (const status of [400, 401, 415]) expect(told).toContain(`a webhook was refused (${status}): `);
  expect(told).toContain("POST /webhooks/github was refused (413): the body is larger than 5 MiB");
  expect(told).not.toContain("    at ");
  process.kill("SIGINT");
  expect(await process.ended).toMatchObject({ code: 0 });
});

/** Without a length beforehand. */
function sendInPieces(url: string, mebibytes: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "x-hub-signature-256": "x" };
    const call = request(url, { method: "POST", headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on("error", reject);
    for (let n = 0; n < mebibytes; n++) call.write("x".repeat(1024 * 1024));
    call.end();
  });
}
