import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "../contract/beads-world.js";
import { deadlyGit } from "./deadly-git.js";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { sandbox, until } from "./sandbox.js";

const pathOf = (world: { home: string }, issue = "one") => join(world.home, "worktrees", "shop", issue);
const bad = says("fail", { title: "Wrong way", body: "Do it otherwise" }, { title: "Naming", priority: 2 });

/** An issue whose one round of review failed, with a loose file in its worktree. */
async function failed(): Promise<ResumeWorld> {
  const world = resumeWorld({ max_retries: 1 });
  world.reviewerDoes("one", bad);
  await world.add("one");
  expect((await world.ratchet("run")).code).toBe(1);
  writeFileSync(join(pathOf(world), "loose.txt"), "not committed\n");
  return world;
}
const findings = async (world: ResumeWorld) => JSON.parse(await world.quick("findings", "one", "--all", "--json"));

test("retry --afresh puts the work aside, and the next life is a new one on the target as it is now", async () => {
  const world = await failed();
  world.write("newer.txt", "x\n");
  world.git("add", "newer.txt");
  world.git("commit", "-qm", "Newer");
  const ref = "refs/ratchet/parked/one/1";
  expect(JSON.parse(await world.quick("retry", "one", "--afresh", "--json"))).toEqual({
    ...{ id: "one", status: "available", afresh: true },
    ...{ parked: [ref], superseded: 2 },
  });
  expect(existsSync(pathOf(world))).toBe(false);
  const reason = "begun afresh: the work it was found in is put aside";
  expect((await findings(world)).map((one: object) => ({ ...one }))).toMatchObject([
    { title: "Wrong way", status: "superseded", reason },
    { title: "Naming", status: "superseded", reason },
  ]);
  world.agentDoes("one", "ls >>$HOME/seen");
  rmSync(join(world.root, "review-one"));
  // Whatever is said: there is nothing left to resume.
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("one").map(({ kind, session }) => [kind, session])).toEqual([
    ["implementer", "new"],
    ["implementer", "new"],
  ]);
  expect(world.sent("one")[1]?.text).not.toMatch(/Wrong way|Naming/);
  expect(readFileSync(join(world.root, "seen"), "utf8").split("\n")).toEqual(["README.md", "newer.txt", ""]);
  expect(await world.issue("one")).toMatchObject({ status: "success", base_sha: world.git("rev-parse", "main~1") });
  expect(world.read("one.txt")).toBe("implementer 1\n");
  // What was put aside can be had back, whatever became of the issue since.
  await world.quick("worktree", "restore", "one");
  expect(readFileSync(join(pathOf(world), "loose.txt"), "utf8")).toBe("not committed\n");
  expect(readFileSync(join(pathOf(world), "one.txt"), "utf8")).toBe("implementer 1\n");
  // It began before newer.txt, which it therefore has not deleted.
  expect(await world.quick("diff", "one", "--stat")).toBe("loose.txt\none.txt\n");
});

test("retry --afresh gives up what is on a branch without a worktree and what was put aside before, too", async () => {
  const world = await failed();
  await world.quick("worktree", "park", "one");
  expect(JSON.parse(await world.quick("work", "retry", "one", "--afresh", "--json"))).toMatchObject({ parked: [] });
  const mirror = join(world.home, "repos", "shop.git");
  const branch = () => world.git("--git-dir", mirror, "for-each-ref", "refs/heads/ratchet");
  expect(branch()).toBe("");
  expect((await world.ratchet("run")).code).toBe(1);
  expect(world.sent("one")[1]?.kind).toBe("implementer");
  expect(world.git("--git-dir", mirror, "log", "--format=%s", "refs/user/heads/main..ratchet/one")).toBe("Work on one");
  // Somebody deletes the files: the commits are on the branch.
  rmSync(pathOf(world), { recursive: true });
  const again = await world.quick("retry", "one", "--afresh");
  expect(again).toMatch(
    /^one is available: its next life begins afresh\nwhat it had is put aside as (refs\/ratchet\/parked\/one\/2)\nratchet worktree restore one brings that back\n2 open findings are superseded: ratchet findings one --all\n$/,
  );
  expect(branch()).toBe("");
  expect(world.git("--git-dir", mirror, "show", "refs/ratchet/parked/one/2:one.txt")).toBe("implementer 1");
  expect(await world.quick("retry", "one", "--afresh")).toBe("one is available: its next life begins afresh\n");
});

test("an issue that is begun afresh is not told of what was found before, when something is found again", async () => {
  const world = await failed();
  await world.quick("retry", "one", "--afresh");
  const other = says("fail", { title: "Another thing" });
  world.reviewerDoes("one", `if [ -e $HOME/told ]; then echo '{"verdict": "pass"}'; else : >$HOME/told; ${other}\nfi`);
  expect((await world.ratchet("run", "--max-review-retries", "3")).code).toBe(0);
  const followup = world.sent("one").at(-1);
  expect([followup?.kind, followup?.text]).toEqual(["review_followup", expect.stringContaining("Another thing")]);
  expect(followup?.text).not.toMatch(/Wrong way|Naming/);
});

test("what began before an issue was begun afresh counts for nothing, whenever it is imported; what began later does", async () => {
  const world = await failed();
  const own = JSON.parse(await world.quick("runs", "export", "last"));
  await world.quick("retry", "one", "--afresh");
  const later = new Date().toISOString();
  const bring = async (run_id: string, more: object, issue: object = {}) => {
    const one = { ...own.issues.one, session_id: run_id, ...issue };
    const file = world.put(`${run_id}.json`, JSON.stringify({ ...own, run_id, ...more, issues: { one } }));
    return await world.quick("runs", "import", file);
  };
  const kept = "one: failed, from before it was begun afresh: only its record is kept";
  expect(await bring("copy", {})).toContain(kept);
  const old = { started_at: "2020-01-01T00:00:00Z" };
  expect(await bring("ancient", old, { ...old, last_review_issues: null })).toContain(kept);
  const timeless = { started_at: undefined, completed_at: undefined };
  expect(await bring("timeless", timeless, { ...timeless, finished_at: undefined })).toContain(kept);
  expect(await world.quick("findings", "one", "--json")).toBe("[]\n");
  expect((await world.ratchet("run", "--resume", "--strict")).code).toBe(1);
  expect(world.sent("one").slice(1)).toMatchObject([{ kind: "implementer", session: "new" }]);
  // By its own time, not by when it comes.
  await world.quick("retry", "one", "--afresh");
  expect(await bring("between", { started_at: later }, { started_at: later })).toContain(kept);
  const now = { started_at: new Date().toISOString() };
  expect(await bring("since", now, now)).toContain("one: failed, 1 review finding\n");
  rmSync(join(world.root, "review-one"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("one").slice(2)).toMatchObject([{ kind: "review_followup", session: "since" }]);
});

test("retry --afresh is refused, and touches nothing, while the issue runs, when it is done, blocked or not known", async () => {
  const world = await failed();
  const refused = async (id: string) => {
    const { code, stdout } = await world.ratchet("retry", id, "--afresh", "--json");
    return [code, JSON.parse(stdout).error.message];
  };
  await world.add("two");
  await world.quick("work", "block", "two");
  await world.add("three");
  await world.quick("work", "complete", "three");
  await world.add("epic", { more: ["--type", "epic"] });
  expect(await refused("two")).toEqual([1, "two is blocked, so it cannot be begun afresh"]);
  expect(await refused("three")).toEqual([1, "three is completed, so it cannot be begun afresh"]);
  expect(await refused("epic")).toEqual([1, "epic is an epic, which nobody works on itself"]);
  expect(await refused("nobody")).toEqual([1, "no item nobody in shop"]);
  await world.quick("work", "claim", "one", "--as", "me");
  expect(await refused("one")).toEqual([1, "one is claimed by me, so it cannot be begun afresh"]);
  await world.quick("work", "release", "one");
  const wait = world.put("wait", "");
  world.agentDoes("one", `: >$HOME/began; while [ -e ${wait} ]; do sleep 0.05; done`);
  const run = world.start(["run", "--resume"]);
  await until("the agent has begun", () => existsSync(join(world.root, "began")));
  expect(await refused("one")).toEqual([1, expect.stringMatching(/^run \S+ is at work on one$/)]);
  rmSync(wait);
  await run.ended;
  expect(existsSync(join(pathOf(world), "loose.txt"))).toBe(true);
});

test("a run that is under way begins an issue afresh that is retried so", async () => {
  const world = resumeWorld({ max_retries: 1 });
  world.reviewerDoes("one", bad);
  const wait = world.put("wait", "");
  world.agentDoes("two", `while [ -e ${wait} ]; do sleep 0.05; done`);
  for (const id of ["one", "two"]) await world.add(id);
  const run = world.start(["run"]);
  await until("one has failed", () => run.stdout().includes("one: failed"));
  rmSync(join(world.root, "review-one"));
  await world.quick("retry", "one", "--afresh");
  await until("one is done", () => run.stdout().includes("one: landed"));
  rmSync(wait);
  expect((await run.ended).code).toBe(0);
  expect(world.sent("one").map(({ kind, session }) => [kind, session])).toEqual([
    ["implementer", "new"],
    ["implementer", "new"],
  ]);
  expect(world.read("one.txt")).toBe("implementer 1\n");
});

test("of an issue in beads what is Ratchet's is put aside, and beads says when it is taken", async () => {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  await beads.add({ id: "bd-1" });
  const box = sandbox();
  const agent = 'echo "$RATCHET_PROMPT_KIND" >>kinds.txt; git add -A; git commit -qm Did; [ -e "$HOME/good" ]\n';
  box.configure({ tracker: { type: "beads" }, agent: { type: "command", command: box.script("agent", agent) } });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const ratchet = (...args: string[]) => box.start(args, { env }).ended;
  expect((await ratchet("run")).code).toBe(1);
  const { code, stdout, stderr } = await ratchet("retry", "bd-1", "--afresh", "--json");
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { id: "bd-1", status: "failed", afresh: true, parked: ["refs/ratchet/parked/bd-1/1"], superseded: 0 },
  ]);
  expect(stderr).toContain("bd update bd-1 --remove-label=needs-followup");
  expect(await ratchet("retry", "bd-9", "--afresh")).toMatchObject({ code: 1 });
  box.put("good", "");
  expect((await ratchet("run", "--resume")).code).toBe(0);
  expect(box.read("kinds.txt")).toBe("implementer\n");
  expect((await ratchet("retry", "bd-1", "--afresh")).stderr).toContain("bd-1 is completed");
});

const filesAt = (world: ResumeWorld, ref: string) =>
  world.git("--git-dir", join(world.home, "repos", "shop.git"), "ls-tree", "-r", "--name-only", ref);

test("killed in the middle, retry --afresh leaves the issue as it was or as it was asked for, and can be said again", async () => {
  const world = await failed();
  world.agentDoes("one", "ls >$HOME/seen");
  const env = deadlyGit(world);
  const killed = async (at: string): Promise<boolean> => {
    world.put("git-calls", "0\n");
    const { code } = await world.start(["retry", "one", "--afresh"], { env: { ...env, KILL_AT: at } }).ended;
    return code === null;
  };
  const goesOn = async (isFresh: boolean, at: string): Promise<void> => {
    expect((await world.ratchet("run", "--resume")).code).toBe(1);
    const sent = world.sent("one").at(-1);
    const seen = readFileSync(join(world.root, "seen"), "utf8").split("\n").filter(Boolean);
    expect({ at, kind: sent?.kind, isNew: sent?.session === "new", seen }).toEqual({
      ...{ at, kind: isFresh ? "implementer" : "review_followup", isNew: isFresh },
      seen: isFresh ? ["README.md"] : ["README.md", "loose.txt", "one.txt"],
    });
    writeFileSync(join(pathOf(world), "loose.txt"), "not committed\n");
  };
  for (let at = 1; await killed(String(at)); at++) {
    const told = await world.quick("explain", "one");
    // It is given up by now, and settling that is left.
    if (told.startsWith("one is not running: ready")) break;
    // It is nobody's, and waits for nothing.
    expect(told).toMatch(/^one is not running: failed( \d+ times)?: /);
    expect([at, await world.quick("diff", "one", "--stat")]).toEqual([at, "loose.txt\none.txt\n"]);
    const isSaidAgain = at % 2 === 0;
    if (isSaidAgain) {
      const { parked } = JSON.parse(await world.quick("retry", "one", "--afresh", "--json"));
      expect(existsSync(pathOf(world))).toBe(false);
      for (const ref of parked) expect(filesAt(world, ref), `${at}`).toContain("loose.txt");
    }
    await goesOn(isSaidAgain, String(at));
  }
  await goesOn(true, "the end");
  for (const isSaidAgain of [false, true]) {
    expect(await killed("refs/ratchet/settled/")).toBe(true);
    expect(await world.quick("explain", "one")).toMatch(
      /^one is not running: ready, but nothing runs\nnext: ratchet run/,
    );
    expect(JSON.parse(await world.quick("findings", "one", "--json"))).toEqual([]);
    if (isSaidAgain) await world.quick("retry", "one", "--afresh");
    await goesOn(true, "settled");
  }
}, 300_000);
