import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { wasRewound } from "../../src/git/landing/tip.js";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

const merge = "run `git merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main`";

function withAgent(box: Sandbox): void {
  const work = 'echo x >> "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
}

const clear = (box: Sandbox) => rmSync(join(box.dir, ".git/refs/ratchet"));

/** One issue has landed in the mirror; a file where git wants a folder keeps it from the user's repository. */
async function landedElsewhere(box: Sandbox) {
  withAgent(box);
  await box.add("one");
  box.write(".git/refs/ratchet", "in the way\n");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(0);
  return ended;
}

test("status of every project tells in which repository a branch is behind, and each mirror that is gone", async () => {
  const box = sandbox();
  await landedElsewhere(box);
  const other = join(box.root, "other");
  box.git("clone", "--quiet", ".", other);
  await box.start(["work", "add", "Other"], { cwd: other }).ended;
  const allFrom = async (cwd: string, ...how: string[]) => {
    const { stdout } = await box.start(["status", ...how, "--json"], { cwd }).ended;
    const { behind, mirror } = JSON.parse(stdout);
    return { behind, mirror };
  };
  const said = expect.stringMatching(/^in \S+\/shop: main is behind: the landed commit could not be brought over /);
  const told = [await allFrom(box.dir, "--all"), await allFrom(other, "--all"), await allFrom(box.root)];
  expect(told).toEqual(told.map(() => ({ behind: [said], mirror: null })));
  expect(await allFrom(other)).toEqual({ behind: [], mirror: null });
  // A repository that git cannot read hides nothing of the others, and one that is gone has no branches.
  rmSync(join(other, ".git"), { recursive: true });
  rmSync(join(box.home, "repos/shop.git/HEAD"));
  const unread = expect.stringMatching(/^in \S+\/other: the branches cannot be compared .*not a git repository/);
  const damaged = expect.stringMatching(/shop\.git is damaged: the next command/);
  expect(await allFrom(box.root)).toEqual({ behind: [unread], mirror: damaged });
  rmSync(other, { recursive: true });
  expect(await allFrom(box.root)).toEqual({ behind: [], mirror: damaged });
});

test("a branch stays behind in status, however many runs had another target since", async () => {
  const box = sandbox();
  await landedElsewhere(box);
  clear(box);
  box.git("switch", "--quiet", "--create", "topic");
  for (let runs = 1; runs <= 3; runs++) await box.ratchet("run");
  expect(await behindOf(box)).toEqual([expect.stringMatching(/^main is behind: /)]);
  box.git("branch", "--quiet", "--delete", "--force", "main");
  expect(await behindOf(box)).toEqual([]);
});

const behindOf = async (box: Sandbox) => JSON.parse(await box.quick("status", "--json")).behind;
const warnings = (events: ReturnType<typeof eventsOf>) =>
  events.flatMap((event) => (event.type === "log" && event.level === "warn" ? [event.text] : []));

test("a landed commit that cannot be brought over is told with its reason and without a command that cannot work", async () => {
  const box = sandbox();
  const { stdout } = await landedElsewhere(box);
  expect(stdout).toMatch(/main is behind: the landed commit could not be brought over \(git fetch failed .*refs/);
  expect(stdout).toContain("the next `ratchet run` tries again");
  expect(stdout).not.toContain("git merge");
  expect(await box.status("one")).toBe("completed");
});

test("status compares with what has landed, not only with the user's copy of it", async () => {
  const box = sandbox();
  await landedElsewhere(box);
  const [line, ...others] = await behindOf(box);
  expect(others).toEqual([]);
  expect(line).toMatch(/^main is behind: the landed commit could not be brought over .*the next `ratchet run` tries/);
  expect((await box.ratchet("status")).stdout).toContain(line);
  box.git("commit", "--quiet", "--allow-empty", "--message", "mine");
  expect(await behindOf(box)).toEqual([
    "main is behind: the landed commit was not brought over yet, the next `ratchet run` tries again",
  ]);
});

test("the next run brings over what has landed, also without work, and says when it still cannot", async () => {
  const box = sandbox();
  await landedElsewhere(box);
  const again = await box.ratchet("run", "--json");
  expect(warnings(eventsOf(again))).toEqual([expect.stringMatching(/^main is behind: .* could not be brought over/)]);
  expect((await box.ratchet("run")).stdout).toContain("main is behind: the landed commit could not be brought over");
  clear(box);
  const later = await box.ratchet("run", "--json");
  expect([later.code, warnings(eventsOf(later))]).toEqual([0, []]);
  expect(box.read("one.txt")).toBe("x\n");
  expect(box.git("rev-parse", "main")).toBe((await box.issue("one", await firstRun(box))).commit);
  expect(await behindOf(box)).toEqual([]);
});

async function firstRun(box: Sandbox): Promise<string> {
  return JSON.parse(await box.quick("logs", "list", "--json")).at(-1).run_id;
}

test("a branch that a run starts behind follows once the way is free", async () => {
  const box = sandbox();
  withAgent(box);
  await box.add("one");
  box.write("one.txt", "mine, not committed\n");
  await box.ratchet("run");
  const line = `main is behind: untracked one.txt would be overwritten, ${merge}`;
  // Whoever asks later cannot know whether it still is.
  expect(await behindOf(box)).toEqual([`${line} (as it was at the last try)`]);
  expect(warnings(eventsOf(await box.ratchet("run", "--json")))).toEqual([line]);
  rmSync(join(box.dir, "one.txt"));
  expect(warnings(eventsOf(await box.ratchet("run", "--json")))).toEqual([]);
  expect([box.read("one.txt"), await behindOf(box)]).toEqual(["x\n", []]);
});

const followedOf = (events: ReturnType<typeof eventsOf>) =>
  events.flatMap((event) => (event.type === "target-followed" ? [event.behind] : []));

/** main is checked out, and an uncommitted file is in the way of what has landed. */
async function refused(box: Sandbox): Promise<void> {
  withAgent(box);
  await box.add("one");
  box.write("one.txt", "mine, not committed\n");
  expect((await box.ratchet("run")).code).toBe(0);
}
/** What the line tells to be run, run in the user's repository. */
function runLine(box: Sandbox, line: string): void {
  const [, command = ""] = /run `([^`]+)`/.exec(line) ?? [];
  execFileSync("sh", ["-c", command], { cwd: box.dir, env: box.env });
}
const landedAll = (box: Sandbox) => box.git("rev-parse", "main") === box.git("rev-parse", "refs/ratchet/landed/main");

test("D5 what is to be run for a target that another worktree has brings it forward there, and no other branch", async () => {
  const box = sandbox();
  box.git("switch", "--quiet", "--create", "mine");
  const other = join(box.root, "other tree");
  box.git("worktree", "add", "--quiet", other, "main");
  withAgent(box);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { into: "main" } });
  await box.add("one");
  writeFileSync(join(other, "one.txt"), "mine, not committed\n");
  const before = box.git("rev-parse", "mine");
  expect((await box.ratchet("run")).code).toBe(0);
  const [line = ""] = await behindOf(box);
  expect(line).toContain(`run \`git -C '${other}' merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main\``);
  rmSync(join(other, "one.txt"));
  runLine(box, line);
  expect([landedAll(box), box.git("rev-parse", "mine")]).toEqual([true, before]);
});

test("D5 what status tells to be run fits the branch that is checked out now", async () => {
  const box = sandbox();
  await refused(box);
  expect(await behindOf(box)).toEqual([expect.stringContaining(merge)]);
  box.git("switch", "--quiet", "--create", "mine");
  const before = box.git("rev-parse", "mine");
  const [line = ""] = await behindOf(box);
  expect(line).toBe("main is behind: run `git fetch . refs/ratchet/landed/main:refs/heads/main`");
  runLine(box, line);
  expect([landedAll(box), box.git("rev-parse", "mine"), await behindOf(box)]).toEqual([true, before, []]);
});

test("D5 a target with commits of its own that is not checked out is to be switched to first", async () => {
  const box = sandbox();
  await refused(box);
  rmSync(join(box.dir, "one.txt"));
  box.git("commit", "--quiet", "--allow-empty", "--message", "Mine");
  box.git("switch", "--quiet", "--create", "mine");
  const [line = ""] = await behindOf(box);
  expect(line).toContain("it has commits of its own, run `git switch main && git merge refs/ratchet/landed/main`");
  runLine(box, line);
  expect(box.git("log", "--format=%s", "-1", "main^1")).toBe("Mine");
});

test("a branch that could not follow is tried once more at the end of the run, before the last word about it", async () => {
  const box = sandbox();
  withAgent(box);
  const inTheWay = join(box.dir, "one.txt");
  const run_end = { fire_on: "success", failure_mode: "continue", commands: [{ ref: "clear" }] };
  const clears = { commands: { clear: `rm ${inTheWay}` }, validation_triggers: { run_end } };
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), ...clears });
  await box.add("one");
  box.write("one.txt", "mine, not committed\n");
  const { code, stdout } = await box.ratchet("run", "--json");
  const events = eventsOf({ stdout });
  expect([code, followedOf(events), events.at(-1)?.type]).toEqual([0, [null], "run-finished"]);
  expect(events.flatMap((event) => (event.type === "landed" ? [event.behind] : []))).toEqual([
    `main is behind: untracked one.txt would be overwritten, ${merge}`,
  ]);
  expect([box.read("one.txt"), await behindOf(box)]).toEqual(["x\n", []]);
});

test("who commits while each merge is gated has all of it when the run has ended", async () => {
  const box = sandbox();
  withAgent(box);
  const busy = `cd ${box.dir} && echo more >>busy && git add busy && git commit --quiet --message busy`;
  const gate = { commands: { check: busy }, evidence_check: { required: ["check"] } };
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), ...gate });
  await box.add("one");
  const run = await box.ratchet("run", "--json");
  const landed = eventsOf(run).flatMap((event) => (event.type === "landed" ? [event.behind] : []));
  expect(landed).toEqual([expect.stringContaining("it has commits of its own")]);
  expect([run.code, followedOf(eventsOf(run)), await behindOf(box)]).toEqual([0, [null], []]);
  expect(box.git("ls-files", "*.txt")).toBe("one.txt");
  expect(box.git("status", "--porcelain")).toBe("");
});

test("what still keeps a branch from following at the end is the run's last word about it", async () => {
  const box = sandbox();
  withAgent(box);
  await box.add("one");
  box.write("one.txt", "mine, not committed\n");
  const run = await box.ratchet("run", "--json");
  const line = `main is behind: untracked one.txt would be overwritten, ${merge}`;
  expect([run.code, followedOf(eventsOf(run))]).toEqual([0, [line]]);
  expect(box.read("one.txt")).toBe("mine, not committed\n");
});

test("a deleted branch is told by status, with the line that brings it back", async () => {
  const box = sandbox();
  withAgent(box);
  await box.add("one");
  await box.ratchet("run");
  box.git("checkout", "--quiet", "--detach");
  box.git("branch", "--quiet", "-D", "main");
  expect(await behindOf(box)).toEqual([
    "main is behind: the branch is gone, run `git branch main refs/ratchet/landed/main`",
  ]);
  box.git("branch", "main", "refs/ratchet/landed/main");
  expect(await behindOf(box)).toEqual([]);
});

test("a start does not overrule a branch that was put back, nor bring back work that was let go", async () => {
  const box = sandbox();
  withAgent(box);
  await box.add("one");
  const before = box.git("rev-parse", "main");
  await box.ratchet("run");
  box.git("reset", "--quiet", "--hard", before);
  await box.ratchet("run");
  expect(box.git("rev-parse", "main")).toBe(before);
  expect(await behindOf(box)).toEqual([wasRewound("main")]);
  box.git("update-ref", "-d", "refs/ratchet/landed/main");
  expect(await behindOf(box)).toEqual([]);
  await box.ratchet("run");
  expect(box.git("rev-parse", "main")).toBe(before);
  expect(await behindOf(box)).toEqual([]);
});

test("status tells a run that nobody drives from one that goes on", async () => {
  const box = sandbox();
  const go = join(box.root, "go");
  const work = `touch ${box.root}/begun; until [ -e ${go} ]; do sleep 0.05; done; echo x > x; git add -A; git commit -qm x\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  const run = box.start(["run"]);
  const statusRuns = async () => JSON.parse(await box.quick("status", "--json")).runs;
  await until("the issue is being worked on", async () => (await statusRuns())[0]?.issues.length === 1);
  expect(await statusRuns()).toMatchObject([{ status: "running", driven: true }]);
  run.kill("SIGKILL");
  await run.ended;
  expect(await statusRuns()).toMatchObject([{ status: "running", driven: false }]);
  expect((await box.ratchet("status")).stdout).toContain("nobody drives it; `ratchet run` goes on with it");
  box.put("go", "");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await statusRuns()).toEqual([]);
});

test("do with an agent program that is missing adds no issue", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: ["no-such-agent-program"] } });
  const { code, stdout, stderr } = await box.ratchet("do", "Fix the door");
  expect([code, stdout, stderr]).toEqual([2, "", expect.stringContaining("no-such-agent-program")]);
  expect(JSON.parse(await box.quick("work", "list", "--all", "--json"))).toEqual([]);
});
