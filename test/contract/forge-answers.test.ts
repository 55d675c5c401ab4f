import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import formats from "ajv-formats";
import { expect, test } from "vitest";
import type { Seen } from "../forge-server/server.js";
import { type GithubWorld, githubWorld } from "./forge-world.js";
import { githubTrackerWorld } from "./tracker-github-world.js";

type Answers = Readonly<Record<string, object>>;
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Answers>>>>;
}
/** GitHub's own description of its interface; `scripts/extract-openapi.mjs` takes it out of the whole. */
const description: Description = JSON.parse(
  readFileSync(new URL("../forge-server/openapi.json", import.meta.url), "utf8"),
);

/** What does not fit; one line each. */
function misfits(seen: readonly Seen[]): string[] {
  const ajv = new Ajv({ strict: false, allErrors: false, logger: false });
  formats.default(ajv);
  ajv.addSchema({ $id: "github", ...description });
  const checkOf = remember((ref: string) => ajv.compile({ $ref: ref }));
  return seen.flatMap(({ route, status, body }) => {
    const [method = "", path = ""] = route.split(" ");
    const answers = description.paths[path]?.[method.toLowerCase()];
    if (body === null || status === 304) return [];
    if (!answers?.[status]) return [`${route} ${status} is not described`];
    const part = [path, method.toLowerCase(), String(status)].map((name) =>
      name.replaceAll("~", "~0").replaceAll("/", "~1"),
    );
    const check = checkOf(`github#/paths/${part.map(encodeURIComponent).join("/")}`);
    return check(body) ? [] : [`${route} ${status}: ${ajv.errorsText(check.errors)}`];
  });
}

function remember<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key) ?? make(key);
    known.set(key, value);
    return value;
  };
}

/** Everything that the client and people do, once. */
async function useAll(world: GithubWorld): Promise<void> {
  const { forge, server } = world;
  const head = await world.push("topic", { "a.txt": "one\ntwo\nthree\nfour\n" });
  const wanted = { key: "k", branch: "topic", base: "main", title: "t", body: "b", draft: false };
  const { number } = await forge.openPullRequest(wanted);
  const thread = await world.inline(number, { by: "jo", body: "why?", line: 4 });
  await world.review(number, { by: "jo", body: "no", state: "changes_requested" });
  await world.check({ name: "test", commit: head, status: "failure", summary: "s" });
  const ci = server.person("github-actions[bot]");
  const { id } = await ci.send("POST", "/check-runs", { name: "slow", head_sha: head, status: "in_progress" });
  await ci.send("PATCH", `/check-runs/${id}`, { conclusion: "success" });
  await ci.send("POST", `/statuses/${head}`, { state: "success", context: "deploy", description: "ok" });
  await forge.comment(number, { key: "c", body: "c" });
  await forge.reply(number, { key: "r", thread, body: "r" });
  const comments = [{ path: "a.txt", line: 4, body: "x" }];
  await forge.review(number, { key: "v", commit: head, verdict: "approve", body: "v", comments });
  await forge.label(number, "human-review");
  await forge.poll(number, null);
  await server.person("jo").send("GET", "");
  expect((await forge.feedback(number, { timeoutMs: 20_000 })).failed).toEqual([]);
  await forge.merge(number, { method: "squash", head });
  await world.push("second", { "b.txt": "b\n" });
  const second = await forge.openPullRequest({ ...wanted, branch: "second" });
  await server.person("jo").send("PATCH", `/pulls/${second.number}`, { state: "closed" });
  await expect(forge.pullRequest(99)).rejects.toThrow("404");
}

test("every answer of the forge of the tests is as GitHub describes its own", async () => {
  const world = await githubWorld();
  const issues = await githubTrackerWorld();
  try {
    await useAll(world);
    await issues.add({ id: "epic", type: "epic" });
    await issues.add({ id: "one", parent: "epic", priority: 1 });
    await issues.tracker.ready({ scope: { type: "all" }, resume: true, limit: 5 });
    await issues.tracker.claim("one", "run-1");
    await issues.tracker.fail("one", "run-1", "x");
    await issues.tracker.followUp("one", { title: "f", body: "a" });
    await issues.tracker.followUp("one", { title: "f", body: "b" });
    await issues.server
      .person("jo")
      .send("PATCH", `/issues/comments/${issues.server.state.repo.comments[0]?.id}`, { body: "y" });
    const seen = [...world.server.seen, ...issues.server.seen];
    expect(misfits(seen)).toEqual([]);
    const described = Object.entries(description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const used = new Set(seen.map(({ route }) => route));
    expect(described.filter((route) => !used.has(route))).toEqual([]);
    const broken = { ...seen[0], route: "GET /user", status: 200, path: "/user", body: { login: 7 } };
    expect(misfits([broken])).toHaveLength(1);
  } finally {
    await world.done();
    issues.done();
  }
});
