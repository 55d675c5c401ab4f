import { createHmac } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrWorld, prWorld } from "./pr-world.js";
import { type Running, until } from "./sandbox.js";

const rework = "rework-shop-pr-1-cycle-1";
const secret = "a secret of this test";

async function opened(config: Readonly<Record<string, unknown>>): Promise<PrWorld> {
  const world = await prWorld(config);
  await world.add("shop-1", { title: "Write it" });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  return world;
}

interface Served {
  readonly process: Running;
  readonly url: string;
  readonly token: string;
}
async function serve(world: PrWorld, env: NodeJS.ProcessEnv = { RATCHET_WEBHOOK_SECRET: secret }): Promise<Served> {
  const process = world.start(["serve", "--port", "0"], { env });
  await until("it listens", () => process.stdout().includes("token: ") || process.isEnded());
  const url = /listening on (http:\S+?),/.exec(process.stdout())?.[1] ?? "";
  const token = /token: (\S+)/.exec(process.stdout())?.[1] ?? "";
  return { process, url, token };
}

const answered = (world: PrWorld) => async () =>
  (await world.comments(1)).some(({ user, body }) => user === "ratchet-bot" && body.includes("addressed in"));

test("P9 a webhook that comes twice starts one rework; watching, it is answered without another command", async () => {
  // Polls come too late to have done it.
  const world = await opened({ pull_requests: { poll_seconds: 3600 } });
  const watching = world.start(["run", "--watch"]);
  await until("it waits", () => watching.stdout().includes("Waiting for new work"));
  const served = await serve(world);
  world.server.hook(`${served.url}/webhooks/github`, secret);
  world.server.faults.add({ kind: "doubled-webhook", times: 1 });
  await world.reject(1, "Not yet.");
  await until("it is answered", answered(world));
  await world.server.webhooksSettled();
  expect((await world.items()).filter(({ source }) => source === "rework").map(({ id }) => id)).toEqual([rework]);
  expect((await world.comments(1)).filter(({ user }) => user === "ratchet-bot")).toHaveLength(1);

  // Whoever goes on alone takes over what the other followed.
  watching.kill("SIGINT");
  expect((await watching.ended).code).toBe(130);
  await world.reject(1, "Still not.");
  await until("the next item", async () => (await world.items()).some(({ id }) => id.endsWith("cycle-2")));
  served.process.kill("SIGINT");
  expect(await served.process.ended).toMatchObject({ code: 0 });
});

test("what is served needs the token, webhooks the signature, and a port that is taken is said", async () => {
  const world = await opened({});
  expect(await world.quick("doctor")).toMatch(
    /ok +forge +acme\/shop at \S+, as ratchet-bot \(token from GITHUB_TOKEN\), may push/,
  );
  const { url, token, process } = await serve(world);
  const kept = join(world.home, "serve-token");
  expect([readFileSync(kept, "utf8").trim(), statSync(kept).mode & 0o777]).toEqual([token, 0o600]);
  const get = (path: string, given = token) =>
    fetch(`${url}${path}`, { headers: { authorization: `Bearer ${given}` } });
  for (const path of ["/", "/healthz", "/api/status", "/api/pull-requests"]) {
    expect([path, (await get(path)).status, (await get(path, "wrong")).status]).toEqual([path, 200, 401]);
  }
  expect((await fetch(`${url}/api/status`)).status).toBe(401);
  expect((await get("/nowhere")).status).toBe(404);
  const served = await (await get("/api/status")).json();
  expect(served).toEqual(JSON.parse(await world.quick("status", "--json")));
  expect(await (await get("/api/pull-requests")).json()).toEqual(JSON.parse(await world.quick("pr", "list", "--json")));
  const answer = (body: string) =>
    fetch(`${url}/api/answer`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
  expect([(await answer("{")).status, (await answer('{"gate":"ask","option":"yes"}')).status]).toEqual([400, 404]);

  const send = (body: string, headers: Record<string, string>) =>
    fetch(`${url}/webhooks/github`, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "x-github-event": "ping", "x-github-delivery": "1", ...headers },
    });
  const body = JSON.stringify({ repository: { full_name: "acme/shop" }, pull_request: { number: 1 } });
  const signed = (text: string) => ({
    "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`,
  });
  expect((await send(body, {})).status).toBe(401);
  expect((await send(`${body} `, signed(body))).status).toBe(401);
  expect((await send(body, { ...signed(body), "content-type": "application/x-www-form-urlencoded" })).status).toBe(415);
  const large = `{"a":"${"x".repeat(6_000_000)}"}`;
  expect((await send(large, signed(large))).status).toBe(413);
  const heard = await send(body, signed(body));
  expect([heard.status, await heard.json()]).toEqual([202, { pull_requests: [1] }]);
  const elsewhere = body.replace("acme/shop", "acme/else");
  expect(await (await send(elsewhere, { ...signed(elsewhere), "x-github-delivery": "2" })).json()).toEqual({
    pull_requests: [],
  });

  const port = new URL(url).port;
  expect(await world.ratchet("serve", "--port", port)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/port \d+ is in use[\s\S]*hint: ratchet serve --port/),
  });
  process.kill("SIGTERM");
  expect(await process.ended).toMatchObject({ code: 0 });

  const deaf = await serve(world, {});
  expect(deaf.process.stderr()).toContain("RATCHET_WEBHOOK_SECRET is not set");
  expect(deaf.token).toBe(token);
  const refused = await fetch(`${deaf.url}/webhooks/github`, { method: "POST", body, headers: signed(body) });
  expect(refused.status).toBe(503);
  deaf.process.kill("SIGINT");
  expect(await deaf.process.ended).toMatchObject({ code: 0 });
});

test("P12 watching with a poll each second, a comment is reworked and answered without another command", async () => {
  const world = await opened({ pull_requests: { poll_seconds: 1 } });
  const watching = world.start(["run", "--watch"]);
  await until("it waits", () => watching.stdout().includes("Waiting for new work"));
  await world.jo.send("POST", "/issues/1/comments", { body: "Say more." });
  await until("it is answered", answered(world));
  expect(readFileSync(join(world.root, `prompt-${rework}-rework`), "utf8")).toContain("Say more.");
  await world.jo.send("PATCH", "/pulls/1", { state: "closed" });
  await until("the issue has failed", async () => (await world.status("shop-1")) === "failed");
  watching.kill("SIGINT");
  expect((await watching.ended).code).toBe(130);
  expect(world.remoteGit("rev-parse", "--verify", "ratchet/shop-1")).toMatch(/^[0-9a-f]{40}$/);
});

test("without a remote or a token a pull request is not begun: no agent starts, and how to mend it is said", async () => {
  const world = await prWorld();
  await world.add("shop-1", { title: "Write it" });
  const { GITHUB_TOKEN: _, ...rest } = world.env;
  for (const name of Object.keys(world.env)) delete world.env[name];
  Object.assign(world.env, rest);
  expect(await world.ratchet("run")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/token[\s\S]*hint: set GITHUB_TOKEN/),
  });
  world.git("remote", "remove", "origin");
  expect(await world.ratchet("run")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/origin[\s\S]*hint: git remote add/),
  });
  expect(existsSync(join(world.root, "turns"))).toBe(false);
  expect(await world.status("shop-1")).toBe("available");
});
