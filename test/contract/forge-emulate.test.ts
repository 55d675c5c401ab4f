import { createEmulator, type Emulator } from "emulate";
import { afterAll, beforeAll, expect, test } from "vitest";
import { githubForge } from "../../src/forge/github/adapter.js";
import { placeOf } from "../../src/lib/github-client/remote.js";
import { githubTracker } from "../../src/trackers/github.js";

/** A second opinion: somebody else's emulation of GitHub, which nobody here wrote or can bend. */
let github: Emulator;
beforeAll(async () => {
  github = await createEmulator({
    service: "github",
    port: 0,
    seed: {
      tokens: { "token-of-bot": { login: "bot", scopes: ["repo"] }, "token-of-jo": { login: "jo", scopes: ["repo"] } },
      github: {
        users: [{ login: "bot" }, { login: "jo" }],
        repos: [{ owner: "jo", name: "shop", auto_init: true }],
      },
    },
  });
  await jo("PUT", "/collaborators/bot", { permission: "push" });
});
afterAll(() => github.close());

async function jo(method: string, path: string, body?: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(`${github.url}/repos/jo/shop${path}`, {
    method,
    headers: { authorization: "Bearer token-of-jo", "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  const value: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
  return value;
}

const options = () => ({
  place: placeOf({ repo: "jo/shop", api_url: github.url }, null),
  token: "token-of-bot",
  userAgent: "ratchet-test",
});

async function pushTopic(): Promise<void> {
  const main = await jo("GET", "/git/ref/heads/main");
  const { sha } = main.object as { sha: string };
  await jo("POST", "/git/refs", { ref: "refs/heads/ratchet/i-1", sha });
  const content = Buffer.from("one\ntwo\n").toString("base64");
  await jo("PUT", "/contents/a.txt", { message: "work", content, branch: "ratchet/i-1" });
}

test("the client opens, reads, answers, reviews and merges a pull request elsewhere too", async () => {
  await pushTopic();
  const forge = githubForge(options());
  expect(await forge.whoAmI()).toBe("bot");
  const wanted = { key: "pr:i-1", branch: "ratchet/i-1", base: "main", title: "Work", body: "b", draft: false };
  const { number, head } = await forge.openPullRequest(wanted);
  expect((await forge.openPullRequest(wanted)).number).toBe(number);
  expect((await forge.pullRequestOf("ratchet/i-1"))?.number).toBe(number);
  await jo("POST", `/pulls/${number}/reviews`, { event: "REQUEST_CHANGES", body: "Not yet." });
  const place = { path: "a.txt", line: 1, side: "RIGHT", commit_id: head.sha };
  await jo("POST", `/pulls/${number}/comments`, { body: "Why?", ...place });
  await jo("POST", `/issues/${number}/comments`, { body: "hello" });
  await forge.comment(number, { key: "note", body: "Escalated." });
  await forge.comment(number, { key: "note", body: "Escalated." });
  const told = await forge.feedback(number, { timeoutMs: 20_000 });
  // It has no commit statuses: the one part that needs them says so, the others are whole.
  expect(told.failed).toMatchObject([
    { part: "checks", result: "error", reason: expect.stringContaining("/status: 404") },
  ]);
  expect(told.reviews).toMatchObject([{ author: { login: "jo" }, state: "changes_requested", body: "Not yet." }]);
  expect(told.inline).toMatchObject([{ author: { login: "jo" }, path: "a.txt", body: "Why?" }]);
  expect(told.comments.map(({ author }) => author.login)).toEqual(["jo", "bot"]);
  const review = { key: "r", commit: head.sha, verdict: "comment", body: "Seen.", comments: [] } as const;
  expect((await forge.review(number, review)).id).toBe((await forge.review(number, review)).id);
  await forge.label(number, "human-review");
  expect(await forge.merge(number, { method: "squash", head: "0".repeat(40) })).toEqual({ type: "moved" });
  expect(await forge.merge(number, { method: "squash", head: head.sha })).toMatchObject({ type: "merged" });
  expect((await forge.merge(number, { method: "squash", head: head.sha })).type).toBe("already-merged");
});

test("the tracker takes, tells and closes issues elsewhere too", async () => {
  const tracker = githubTracker({ ...options(), trusted: ["OWNER", "MEMBER", "COLLABORATOR"] });
  const one = String((await jo("POST", "/issues", { title: "one", labels: ["P1"] })).number);
  const next = String((await jo("POST", "/issues", { title: "next", body: `Depends on #${one}` })).number);
  const query = { scope: { type: "all" }, resume: false, limit: 10 } as const;
  expect(await tracker.ready(query)).toMatchObject([{ id: one, priority: 1 }]);
  const won = await Promise.all(["run-1", "run-2"].map((run) => tracker.claim(one, run)));
  expect(won.filter(Boolean)).toHaveLength(1);
  await tracker.complete(one, won[0] ? "run-1" : "run-2", { commit: "c0ffee", note: "done" });
  expect(await tracker.get(one)).toMatchObject({ status: "completed" });
  expect(await tracker.ready(query)).toMatchObject([{ id: next, deps: [one] }]);
});
