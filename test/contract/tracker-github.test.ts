import { afterEach, expect, test } from "vitest";
import { until } from "./process-support.js";
import { type GithubTrackerWorld, githubTrackerWorld } from "./tracker-github-world.js";
import { testTracker } from "./tracker-suite.js";

testTracker("github", () => githubTrackerWorld());

const all = { scope: { type: "all" }, resume: false, limit: 50 } as const;
const resume = { ...all, resume: true } as const;
const worlds: GithubTrackerWorld[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.done();
});
async function open(options: Parameters<typeof githubTrackerWorld>[0] = {}): Promise<GithubTrackerWorld> {
  const world = await githubTrackerWorld(options);
  worlds.push(world);
  return world;
}
const idsOf = async ({ tracker }: GithubTrackerWorld, query: Parameters<typeof tracker.ready>[0] = all) =>
  (await tracker.ready(query)).map(({ id }) => id);

test("what became of an issue is told in labels, the assignee and comments", async () => {
  const world = await open();
  for (const id of ["done", "broken", "stuck", "stopped"]) {
    await world.add({ id });
    await world.tracker.claim(id, "run-1");
  }
  expect(world.issue("done")).toMatchObject({ labels: ["in-progress"], assignees: ["ratchet-bot"] });
  await world.tracker.complete("done", "run-1", { commit: "c0ffee", note: "Landed on main" });
  await world.tracker.fail("broken", "run-1", "gate_failed");
  await world.tracker.fail("broken", "run-1", "gate_failed");
  await world.tracker.escalate("stuck", "run-1", "3 conflicts");
  await world.tracker.release("stopped", "run-1");
  expect(world.issue("done")).toMatchObject({ state: "closed", stateReason: "completed", labels: [], assignees: [] });
  expect(world.comments("done")).toEqual(["Landed on main\n\nDone in c0ffee.\n\n<!-- ratchet:done:run-1 -->"]);
  expect(world.issue("broken")).toMatchObject({ state: "open", labels: ["needs-followup"], assignees: [] });
  expect(world.comments("broken")).toEqual([expect.stringContaining("failed: gate_failed")]);
  expect(world.issue("stuck")).toMatchObject({ state: "open", labels: ["human-review"] });
  expect(world.issue("stopped")).toMatchObject({ labels: ["ratchet-stopped"] });
  expect(world.comments("stopped")).toEqual([]);
  await world.tracker.claim("broken", "run-2");
  expect(world.issue("broken")).toMatchObject({ labels: ["in-progress"], assignees: ["ratchet-bot"] });
});

test("an issue in a pull request stays claimed when its run is over, and whoever has the claim tells its end", async () => {
  const world = await open({ over: ["run-1"] });
  await world.add({ id: "one" });
  const claim = { from: "run-1", to: "pull-request:shop:7" };
  await world.tracker.claim("one", "run-1");
  await world.tracker.pass?.("one", claim);
  await world.tracker.pass?.("one", claim);
  expect(await idsOf(world, resume)).toEqual([]);
  expect(await world.tracker.claim("one", "run-2")).toBe(false);
  await expect(world.tracker.pass?.("one", { from: "run-2", to: "run-3" })).rejects.toThrow("no longer held by run-2");
  await world.tracker.fail("one", claim.to, "closed");
  expect(world.issue("one")).toMatchObject({ labels: ["needs-followup"], assignees: [] });
  expect(await idsOf(world, resume)).toEqual(["one"]);
});

test("D3 a forge that is down is an error after three tries, never no work", async () => {
  const world = await open();
  await world.add({ id: "one" });
  const route = "GET /repos/{owner}/{repo}/issues";
  world.server.faults.add({ route, kind: "status", status: 502, times: 2 });
  expect(await idsOf(world)).toEqual(["one"]);
  world.server.faults.add({ route, kind: "status", status: 502, times: 3 });
  await expect(world.tracker.ready(all)).rejects.toMatchObject({
    ...{ name: "ExternalError", what: "tracker", retryable: true },
    message: "GET /repos/acme/shop/issues: 502, made to fail with 502",
  });
  await world.add({ id: "two" });
  world.server.faults.add({ route, kind: "truncate", times: 3 });
  await expect(world.tracker.ready(all)).rejects.toThrow("not whole JSON");
});

test("an answer that got lost makes no second follow-up and no second claim", async () => {
  const world = await open();
  await world.add({ id: "one" });
  const after = { kind: "drop", after: true } as const;
  world.server.faults.add({ route: "POST /repos/{owner}/{repo}/issues", ...after });
  await world.tracker.followUp("one", { title: "Follow-up of one", body: "a" });
  expect(world.server.state.repo.issues.size).toBe(2);
  world.server.faults.add({ route: "POST /repos/{owner}/{repo}/issues/{issue_number}/comments", ...after });
  expect(await world.tracker.claim("one", "run-1")).toBe(true);
  expect(world.comments("one")).toHaveLength(1);
});

test("a stranger's issue neither completes an epic nor keeps one open", async () => {
  const world = await open();
  for (const id of ["bare", "epic"]) await world.add({ id, type: "epic" });
  await world.add({ id: "child", parent: "epic" });
  const stranger = world.server.person("eve", "NONE");
  for (const number of [1, 2]) await stranger.send("POST", "/issues", { title: "x", body: `Parent: #${number}` });
  for (const number of [3, 4]) await world.server.person("jo").send("PATCH", `/issues/${number}`, { state: "closed" });
  const due = await world.tracker.epics?.due({ scope: { type: "all" }, holder: "run-1" });
  expect(due?.map(({ id }) => id)).toEqual(["epic"]);
});

test("a stranger's issue is work once somebody labels it, and a stranger's claim is none", async () => {
  const world = await open();
  const stranger = world.server.person("eve", "NONE");
  const { number } = await stranger.send("POST", "/issues", { title: "Free coins", body: "" });
  await world.add({ id: "one" });
  const one = world.issue("one").number;
  await stranger.send("POST", `/issues/${one}/comments`, { body: "<!-- ratchet:claim:run-9 -->" });
  expect(await idsOf(world)).toEqual(["one"]);
  expect(await world.tracker.claim("one", "run-1")).toBe(true);
  await world.server.person("jo").send("POST", `/issues/${number}/labels`, { labels: ["ratchet"] });
  expect(await idsOf(world)).toEqual([String(number)]);
});

test("what a person has planned for somebody, and what a person works on, is not taken", async () => {
  const world = await open();
  await world.add({ id: "planned" });
  await world.add({ id: "begun" });
  world.issue("planned").assignees = ["jo"];
  world.issue("begun").labels = ["in-progress"];
  expect(await idsOf(world, resume)).toEqual([]);
  const claims = ["planned", "begun"].map((id) => world.tracker.claim(id, "run-1"));
  expect(await Promise.all(claims)).toEqual([false, false]);
});

test("D3 what became of an issue is not told by an answer that shows no change", async () => {
  const world = await open();
  await world.add({ id: "one" });
  await world.tracker.claim("one", "run-1");
  const { number } = world.issue("one");
  const body = await world.server.person("jo").send("GET", `/issues/${number}`);
  const untold = (message: string) => ({ name: "ExternalError", what: "tracker", retryable: true, message });
  const complete = () => world.tracker.complete("one", "run-1", { commit: "c0ffee", note: "done" });
  const fail = () => world.tracker.fail("one", "run-1", "gate_failed");
  const route = "/repos/{owner}/{repo}/issues/{issue_number}";
  world.server.faults.add({ route: `PATCH ${route}`, kind: "unheard", body });
  await expect(complete()).rejects.toMatchObject(
    untold(`GitHub answers success and changes nothing: #${number} is open still`),
  );
  world.server.faults.add({ route: `PATCH ${route}`, kind: "unheard" });
  await expect(complete()).rejects.toMatchObject({ retryable: true });
  world.server.faults.add({ route: `POST ${route}/labels`, kind: "unheard", body: body.labels });
  await expect(fail()).rejects.toMatchObject(
    untold(`GitHub answers success and changes nothing: #${number} has no label needs-followup`),
  );
  expect(world.issue("one")).toMatchObject({ state: "open", labels: ["in-progress"] });
  await complete();
  expect(world.issue("one").state).toBe("closed");
});

test("what a person has given to somebody else is that one's, whatever claim there is", async () => {
  const over: string[] = [];
  const world = await open({ over });
  await world.add({ id: "one" });
  await world.tracker.claim("one", "run-1");
  const before = world.server.seen.length;
  expect(await world.tracker.claim("one", "run-1")).toBe(true);
  // It is only looked at.
  expect(world.server.seen.slice(before).every(({ route }) => route.startsWith("GET "))).toBe(true);
  world.issue("one").assignees = ["jo"];
  expect(await world.tracker.claim("one", "run-1")).toBe(false);
  over.push("run-1");
  expect([await idsOf(world, resume), await world.tracker.claim("one", "run-2")]).toEqual([[], false]);
  world.issue("one").assignees = [];
  expect(await world.tracker.claim("one", "run-1")).toBe(true);
  expect(world.issue("one").assignees).toEqual(["ratchet-bot"]);
});

test("a resume takes over from runs that are over, once, and from nobody else", async () => {
  const over: string[] = [];
  const world = await open({ over });
  for (const [id, run] of Object.entries({ dead: "run-1", alive: "run-2" })) {
    await world.add({ id });
    await world.tracker.claim(id, run);
  }
  over.push("run-1");
  expect([await idsOf(world), await idsOf(world, resume)]).toEqual([[], ["dead"]]);
  const won = await Promise.all(["run-3", "run-4"].map((run) => world.tracker.claim("dead", run)));
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(world.comments("dead")).toEqual([expect.stringContaining(`claim:run-${won[0] ? 3 : 4}`)]);
  expect(await world.tracker.claim("alive", "run-3")).toBe(false);
});

test("an issue waits for what does not exist, and not for a pull request that is merged", async () => {
  const world = await open();
  const say = (body: string) => world.server.person("jo").send("POST", "/issues", { title: "t", body });
  const jo = world.server.person("jo");
  await say("Depends on #99");
  await say("- Blocked by: #1, #2");
  await world.repository.push("topic", { "b.txt": "b\n" });
  await jo.send("POST", "/pulls", { title: "t", head: "topic", base: "main" });
  await say("Depends on #3");
  expect(await world.plain.ready(all)).toEqual([]);
  expect(await world.plain.get("2")).toMatchObject({ deps: ["1", "2"] });
  expect([await world.plain.get("3"), await world.plain.claim("3", "run-1")]).toEqual([null, false]);
  await jo.send("PUT", "/pulls/3/merge", {});
  expect(await world.plain.ready(all)).toMatchObject([{ id: "4" }]);
});

test("more issues than a page holds are all seen, and asking again costs nothing", async () => {
  const world = await open();
  for (let index = 0; index < 120; index++) await world.add({ id: `i-${index}` });
  await world.add({ id: "urgent", priority: 0 });
  expect(await idsOf(world, { ...all, limit: 200 })).toHaveLength(121);
  const before = world.server.seen.length;
  expect(await idsOf(world, { ...all, limit: 1 })).toEqual(["urgent"]);
  expect(world.server.seen.slice(before).map(({ status }) => status)).toEqual([304, 304]);
});

test("whoever asks may leave: the claim has failed, as that of a tracker that is away, and nothing more is sent", async () => {
  const world = await open();
  await world.add({ id: "one" });
  const left = new AbortController();
  const slow: string[] = [];
  const asked = world.plain.askedBy?.({ signal: left.signal, onSlow: (call) => slow.push(call) });
  world.server.faults.add({ route: "GET /repos/{owner}/{repo}/issues/{issue_number}", kind: "delay", ms: 60_000 });
  const won = asked?.claim("1", "run-1").then(String, (error: unknown) => error);
  await until("it is told to take long", () => slow.length > 0);
  left.abort(new Error("enough"));
  const call = "GET /repos/acme/shop/issues/1";
  expect(slow).toEqual([call]);
  expect(await won).toMatchObject({ what: "tracker", retryable: true, message: `${call} gave no answer: enough` });
  await expect(asked?.ready(all)).rejects.toMatchObject({ what: "tracker", retryable: true });
  expect(world.issue("one")).toMatchObject({ labels: [], assignees: [] });
});
