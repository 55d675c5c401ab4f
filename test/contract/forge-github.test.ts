import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { NewReview } from "../../src/core/ports/forge.js";
import { forgeStatus } from "../../src/forge/github/status.js";
import { type ReadWebhook, readWebhook } from "../../src/forge/github/webhook.js";
import { type GithubWorld, githubWorld } from "./forge-world.js";

const worlds: GithubWorld[] = [];
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.done();
});
async function open(
  options: Parameters<typeof githubWorld>[0] = {},
): Promise<GithubWorld & { number: number; head: string }> {
  const world = await githubWorld(options);
  worlds.push(world);
  const head = await world.push("topic", { "a.txt": "one\ntwo\nthree\nfour\n" });
  const wanted = { key: "k", branch: "topic", base: "main", title: "t", body: "b", draft: false };
  const { number } = await world.forge.openPullRequest(wanted);
  return { ...world, number, head };
}
/** So many inline comments. */
async function say(world: GithubWorld & { number: number }, count: number): Promise<void> {
  await world.inline(world.number, { by: "jo", body: "0", line: 4 });
  const { state } = world.server;
  const [first] = state.repo.inline;
  for (let index = 1; first && index < count; index++) {
    state.repo.inline.push({ ...first, id: state.nextId(), body: String(index) });
  }
}

const pull = "/repos/{owner}/{repo}/pulls/{pull_number}";
const issueComments = "/repos/{owner}/{repo}/issues/{issue_number}/comments";
const statuses = ({ server }: GithubWorld, from: number) => server.seen.slice(from).map(({ status }) => status);

test("P3 two reviews and 130 inline comments over two pages are all fetched; asking again costs nothing", async () => {
  const world = await open();
  for (const body of ["first", "second"]) await world.review(world.number, { by: "jo", body, state: "commented" });
  await say(world, 130);
  const told = await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  expect([told.reviews.length, told.inline.length, told.failed]).toEqual([2, 130, []]);
  const left = world.forge.budget?.()?.left;
  const from = world.server.seen.length;
  expect((await world.again().feedback(world.number, { timeoutMs: 20_000 })).inline).toEqual(told.inline);
  expect(new Set(statuses(world, from))).toEqual(new Set([304]));
  await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  expect(world.forge.budget?.()?.left).toBe(left);
});

test("P3 a comment behind a page that was full is seen, though that page has not changed", async () => {
  const world = await open();
  const count = async () => (await world.again().feedback(world.number, { timeoutMs: 20_000 })).inline.length;
  await say(world, 100);
  expect(await count()).toBe(100);
  await world.inline(world.number, { by: "jo", body: "one more", line: 4 });
  expect(await count()).toBe(101);
});

test("what an older version has remembered of the forge is asked for anew, not an error", async () => {
  const world = await open();
  await world.review(world.number, { by: "jo", body: "Not yet.", state: "changes_requested" });
  const told = await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  const folder = join(world.repository.root, "etags");
  for (const name of readdirSync(folder)) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll('"state"', '"old_name"'));
  }
  expect(await world.again().feedback(world.number, { timeoutMs: 20_000 })).toEqual(told);
});

test("P4 a forge that does not answer in time costs that part and no more; what else was said is kept", async () => {
  const world = await open();
  await world.review(world.number, { by: "jo", body: "Not yet.", state: "changes_requested" });
  world.server.faults.add({ route: `GET ${pull}/comments`, kind: "delay", ms: 60_000 });
  const started = Date.now();
  const told = await world.forge.feedback(world.number, { timeoutMs: 3000 });
  expect(Date.now() - started).toBeLessThan(10_000);
  expect(told.failed).toEqual([{ part: "inline", result: "timeout", reason: "no answer within 3 s" }]);
  expect(told.reviews).toMatchObject([{ body: "Not yet." }]);
});

test("P4 a forge that answers nothing at all costs every part, and no more", async () => {
  const world = await open();
  world.server.faults.add({ kind: "delay", ms: 60_000, times: 100 });
  const { failed } = await world.forge.feedback(world.number, { timeoutMs: 200 });
  expect(failed.map(({ part, result }) => `${part} ${result}`).sort()).toEqual(
    ["checks", "comments", "inline", "reviews"].map((part) => `${part} timeout`),
  );
});

test("P4 a second page that fails is an error of its part, not a shorter list", async () => {
  const world = await open();
  await say(world, 101);
  world.server.faults.add({ route: `GET ${pull}/comments`, page: 2, kind: "status", status: 503, times: 3 });
  const told = await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  expect(told.inline).toEqual([]);
  expect(told.failed).toMatchObject([{ part: "inline", result: "error", reason: expect.stringContaining("503") }]);
  expect((await world.forge.feedback(world.number, { timeoutMs: 20_000 })).inline).toHaveLength(101);
});

test.each([
  ["a dropped connection", { kind: "drop" }, null],
  ["a bad gateway", { kind: "status", status: 502 }, null],
  ["half an answer", { kind: "truncate" }, null],
  ["a token that is not accepted", { kind: "status", status: 401 }, { status: 401, retryable: false }],
  ["a repository that is gone", { kind: "status", status: 404 }, { status: 404, retryable: false }],
] as const)("D3 %s is tried again where that helps, and else said at once", async (_what, fault, error) => {
  const world = await open();
  const route = `GET ${pull}`;
  world.server.faults.add({ route, ...fault, times: 2 });
  const asked = world.forge.pullRequest(world.number);
  if (error !== null) return void (await expect(asked).rejects.toMatchObject({ name: "ExternalError", ...error }));
  expect((await asked).number).toBe(world.number);
  expect(world.waits.map(({ reason }) => reason)).toEqual(["outage", "outage"]);
  await world.comment(world.number, { by: "jo", body: "so that there is a new answer" });
  world.server.faults.add({ route, ...fault, times: 3 });
  await expect(world.forge.pullRequest(world.number)).rejects.toMatchObject({ name: "ExternalError", retryable: true });
});

test("D3 limits are waited for, visibly, and by everybody else too", async () => {
  const world = await open();
  world.server.faults.add({ route: `POST ${issueComments}`, kind: "secondary-limit", ms: 1000 });
  await world.forge.comment(world.number, { key: "a", body: "a" });
  world.server.faults.add({ route: `GET ${pull}`, kind: "rate-limit", ms: 500 });
  const [first, second] = [world.forge.pullRequest(world.number), world.forge.pullRequest(world.number)];
  expect((await Promise.all([first, second])).map(({ number }) => number)).toEqual([world.number, world.number]);
  expect(world.waits).toMatchObject([
    { reason: "secondary-limit", call: `POST /repos/acme/shop/issues/${world.number}/comments` },
    { reason: "rate-limit", call: `GET /repos/acme/shop/pulls/${world.number}` },
  ]);
});

test("a wait ends with the caller's signal", async () => {
  const world = await open();
  world.server.faults.add({ route: `GET ${pull}`, kind: "rate-limit", ms: 1_800_000 });
  const stop = new AbortController();
  const asked = world.forge.pullRequest(world.number, stop.signal);
  while (world.waits.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  stop.abort(new Error("stopped"));
  await expect(asked).rejects.toThrow("stopped");
});

test("one request that is not answered ends by itself", async () => {
  const world = await open({ timeoutMs: 400 });
  const fault = JSON.stringify({ route: `GET ${pull}`, kind: "delay", ms: 60_000 });
  await fetch(`${world.server.url}/_admin/faults`, { method: "POST", body: fault });
  await expect(world.forge.pullRequest(world.number)).rejects.toMatchObject({ timedOut: true, retryable: true });
});

test("P9 what was done although the answer got lost is not done again", async () => {
  const world = await open();
  const thread = await world.inline(world.number, { by: "jo", body: "Why?", line: 4 });
  const after = { kind: "drop", after: true } as const;
  world.server.faults.add({ route: `POST ${issueComments}`, ...after });
  await world.forge.comment(world.number, { key: "note", body: "a" });
  world.server.faults.add({
    route: `POST ${pull}/comments/{comment_id}/replies`,
    kind: "status",
    status: 502,
    after: true,
  });
  await world.forge.reply(world.number, { key: "answer", thread, body: "b" });
  world.server.faults.add({ route: `POST ${pull}/reviews`, ...after });
  const review: NewReview = { key: "r", commit: world.head, verdict: "comment", body: "c", comments: [] };
  await world.forge.review(world.number, review);
  world.server.faults.add({ route: "POST /repos/{owner}/{repo}/pulls", ...after });
  await world.push("other", { "b.txt": "b\n" });
  const wanted = { key: "k2", branch: "other", base: "main", title: "t", body: "b", draft: false };
  const other = await world.forge.openPullRequest(wanted);
  world.server.faults.add({ route: `PUT ${pull}/merge`, ...after });
  expect(await world.forge.merge(other.number, { method: "merge", head: other.head.sha })).toMatchObject({
    type: "merged",
  });
  const { comments, inline, reviews } = await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  expect([comments.length, inline.length, reviews.length]).toEqual([1, 2, 1]);
  expect(world.server.state.repo.issues.size).toBe(2);
});

test("a review's remarks outside the diff are told in its text, the others on their lines", async () => {
  const world = await open();
  const wanted = { key: "theirs", branch: "theirs", base: "main", title: "t", body: "b", draft: false };
  const head = await world.push("theirs", { "a.txt": "one\ntwo\nthree\nfour\nfive\n" });
  const { number } = await world.server.person("jo").send("POST", "/pulls", { ...wanted, head: "theirs" });
  const posted = await world.forge.review(Number(number), {
    ...{ key: "r", commit: head, verdict: "request_changes", body: "Two things." },
    comments: [
      { path: "a.txt", line: 5, startLine: 4, body: "here" },
      { path: "gone.txt", line: 7, body: "there" },
    ],
  });
  expect(posted.refused).toBe(false);
  const { reviews, inline } = await world.forge.feedback(Number(number), { timeoutMs: 20_000 });
  expect(inline).toMatchObject([{ line: 5, startLine: 4, body: "here" }]);
  expect(reviews[0]).toMatchObject({ state: "changes_requested" });
  expect(reviews[0]?.body).toContain("**gone.txt:7**\n\nthere");
});

test("P3 a deleted author is nobody, and a line that is gone keeps where it was", async () => {
  const world = await open();
  await world.inline(world.number, { by: "jo", body: "four?", line: 4 });
  for (const comment of world.server.state.repo.inline) comment.author = null;
  await world.push("topic", { "a.txt": "zero\none\ntwo\nthree\nFOUR\n" });
  const { inline } = await world.forge.feedback(world.number, { timeoutMs: 20_000 });
  expect(inline).toMatchObject([{ author: { login: null }, line: null, originalLine: 4, about: "line" }]);
});

test("what is said in the very second of the last look is not missed", async () => {
  const world = await open();
  await world.comment(world.number, { by: "jo", body: "a" });
  const look = await world.forge.poll(world.number, null);
  if (look.type !== "changed") throw new Error("it was never looked at");
  await world.review(world.number, { by: "jo", body: "b", state: "commented" });
  expect((await world.forge.poll(world.number, look.cursor)).type).toBe("changed");
});

test("a check that runs is looked at until it ends", async () => {
  const world = await open();
  const ci = world.server.person("github-actions[bot]");
  const { id } = await ci.send("POST", "/check-runs", { name: "test", head_sha: world.head, status: "in_progress" });
  await world.forge.pullRequest(world.number);
  world.passTime();
  const look = await world.forge.poll(world.number, null);
  if (look.type !== "changed") throw new Error("it was never looked at");
  expect((await world.forge.poll(world.number, look.cursor)).type).toBe("unchanged");
  await ci.send("PATCH", `/check-runs/${id}`, { conclusion: "failure" });
  expect((await world.forge.poll(world.number, look.cursor)).type).toBe("changed");
});

test("doctor's data: who, where, what is left, and what is wrong", async () => {
  const world = await open();
  const { token } = world.server.person("ratchet-bot");
  const ask = (repo: string, env: NodeJS.ProcessEnv) =>
    forgeStatus({ forge: { repo, api_url: world.server.url }, originUrl: null, env, userAgent: "test" });
  expect(await ask("acme/shop", { GITHUB_TOKEN: token })).toMatchObject({
    ...{ repo: "acme/shop", token: "GITHUB_TOKEN", login: "ratchet-bot", reachable: true, mayPush: true, problems: [] },
    budget: { left: expect.any(Number) },
  });
  const wrong = await ask("acme/other", { GITHUB_TOKEN: token });
  expect(wrong).toMatchObject({ reachable: false, problems: [{ message: expect.stringContaining("404") }] });
  const none = await ask("acme/shop", { PATH: "" });
  expect(none.problems).toMatchObject([{ message: "there is no token for 127.0.0.1" }]);
  world.server.faults.add({ route: "GET /repos/{owner}/{repo}", kind: "rate-limit", ms: 1_800_000 });
  const limited = await ask("acme/shop", { GITHUB_TOKEN: token });
  expect(limited.problems).toMatchObject([{ message: expect.stringContaining("the rate limit is used up until 20") }]);
  const bad = await ask("acme/shop", { GITHUB_TOKEN: "token-of-nobody" });
  expect(bad.problems[0]).toMatchObject({ hint: expect.stringContaining("not accepted") });
});

test("webhooks are signed, and one that is doubled has the same delivery", async () => {
  const world = await open();
  const got: ReadWebhook[] = [];
  const receiver = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    got.push(await readWebhook({ headers: request.headers, body, secret: "secret" }));
    response.end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  world.server.hook(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}`, "secret");
  world.server.faults.add({ kind: "doubled-webhook" });
  await world.comment(world.number, { by: "jo", body: "hello" });
  await world.server.webhooksSettled();
  receiver.close();
  expect(got).toMatchObject([
    { notice: { event: "issue_comment", repo: "acme/shop", pullRequests: [world.number] } },
    {},
  ]);
  expect(got[0]).toEqual(got[1]);
});

const seconds = async (task: Promise<unknown>): Promise<number> => {
  const from = Date.now();
  await task;
  return (Date.now() - from) / 1000;
};

test.each(["comment", "reply", "review", "merge", "label"] as const)(
  "a %s that waits for a rate limit ends within a second of its stop, and is there once afterwards",
  async (what) => {
    const world = await open();
    const { number, head, forge } = world;
    const thread = await world.inline(number, { by: "jo", body: "why?", line: 2 });
    const review: NewReview = { key: "v", commit: head, verdict: "comment", body: "v", comments: [] };
    const calls = {
      comment: [
        `POST ${issueComments}`,
        (signal?: AbortSignal) => forge.comment(number, { key: "c", body: "c" }, signal),
      ],
      reply: [
        `POST ${pull}/comments/{comment_id}/replies`,
        (signal?: AbortSignal) => forge.reply(number, { key: "r", thread, body: "r" }, signal),
      ],
      review: [`POST ${pull}/reviews`, (signal?: AbortSignal) => forge.review(number, review, signal)],
      merge: [`PUT ${pull}/merge`, (signal?: AbortSignal) => forge.merge(number, { method: "merge", head }, signal)],
      label: [
        "POST /repos/{owner}/{repo}/issues/{issue_number}/labels",
        (signal?: AbortSignal) => forge.label(number, "x", signal),
      ],
    } as const;
    const [route, call] = calls[what];
    world.server.faults.add({ route, kind: "secondary-limit", ms: 60_000 });
    const stop = new AbortController();
    const waiting = expect(call(stop.signal)).rejects.toThrow();
    await expect.poll(() => world.waits.length, { timeout: 10_000 }).toBe(1);
    stop.abort();
    expect(await seconds(waiting)).toBeLessThan(1);
    // Another process, later: nothing of the first was done.
    const from = world.server.seen.length;
    const later = world.again();
    if (what === "comment") await later.comment(number, { key: "c", body: "c" });
    if (what === "reply") await later.reply(number, { key: "r", thread, body: "r" });
    if (what === "review") await later.review(number, review);
    if (what === "merge")
      expect(await later.merge(number, { method: "merge", head })).toMatchObject({ type: "merged" });
    if (what === "label") await later.label(number, "x");
    expect(world.server.seen.slice(from).filter(({ route }) => !route.startsWith("GET "))).toHaveLength(1);
  },
);

test("a comment that is on its way when it is stopped comes to its end, and is not posted again", async () => {
  const world = await open();
  world.server.faults.add({ route: `POST ${issueComments}`, kind: "delay", ms: 300 });
  const stop = new AbortController();
  const from = world.server.seen.length;
  const posting = world.forge.comment(world.number, { key: "c", body: "c" }, stop.signal);
  await expect.poll(() => world.server.seen.slice(from).some(({ route }) => route.startsWith("GET "))).toBe(true);
  setTimeout(() => stop.abort(), 100);
  const { id } = await posting;
  expect(await world.again().comment(world.number, { key: "c", body: "c" })).toEqual({ id });
  expect(world.server.seen.slice(from).filter(({ route }) => route.startsWith("POST "))).toHaveLength(1);
});
