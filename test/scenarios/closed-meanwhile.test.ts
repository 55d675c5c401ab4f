import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "../contract/beads-world.js";
import { type Sandbox, sandbox, until } from "./sandbox.js";
import { failWith, isWaitedFor, waitFor } from "./trigger-world.js";

const commits = `git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"`;
const agent = `cat >/dev/null\n${waitFor("go")}\necho done >work.txt\n${commits}\n`;
const notLanded = (how: string) => `The issue was ${how} by someone else meanwhile: not landed, the branch is kept`;

/** Main moves while the agent works, so that a merge is to land; its gate waits for the file `gate`. */
function mergeWorld(more: object = {}): Sandbox {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    commands: { check: `if [ -e work.txt ] && [ -e theirs.txt ]; then ${waitFor("gate")}; fi` },
    evidence_check: { required: ["check"] },
    ...more,
  });
  return box;
}

function moveMain(box: Sandbox): void {
  box.write("theirs.txt", "theirs\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "Theirs");
}

/** From the start of a run until the gate of its merge. */
async function untilMergeIsGated(box: Sandbox, env: NodeJS.ProcessEnv = {}) {
  const run = box.start(["run"], { env });
  await until("the agent works", () => isWaitedFor(box, "go"));
  moveMain(box);
  box.put("go", "");
  await until("its merge is at the gate", () => isWaitedFor(box, "gate"));
  return run;
}

test("an issue that a person completes while the gate of its merge runs does not land", async () => {
  const box = mergeWorld();
  await box.add("one");
  const run = await untilMergeIsGated(box);
  await box.quick("work", "complete", "one");
  box.put("gate", "");
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining(`one: interrupted: ${notLanded("closed")}`)]);
  expect(await box.issue("one")).toMatchObject({ status: "interrupted", error: "closed", commit: null });
  expect([existsSync(join(box.dir, "work.txt")), await box.status("one")]).toEqual([false, "completed"]);
  expect(await box.quick("diff", "one", "--stat")).toContain("work.txt");
});

/** An issue in beads, and the environment in which the program finds it. */
async function oneBead() {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  await beads.add({ id: "bd-1" });
  return { beads, env: { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` } };
}

test.each([
  ["closed", { status: "closed" }],
  ["taken away", { assignee: "eve" }],
])("an issue in beads that is %s while the gate of its merge runs does not land", async (how, change) => {
  const { beads, env } = await oneBead();
  const box = mergeWorld({ tracker: { type: "beads" } });
  const run = await untilMergeIsGated(box, env);
  beads.change((state) => {
    state.issues = state.issues.map((issue) => ({ ...issue, ...change }));
  });
  box.put("gate", "");
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([0, expect.stringContaining(`bd-1: interrupted: ${notLanded(how)}`)]);
  expect(existsSync(join(box.dir, "work.txt"))).toBe(false);
  expect(beads.issue("bd-1")).toMatchObject(change);
});

/** In the place of git: kills whoever has put a merge on the line, while the user's branch is about to follow. */
function withKiller(box: Sandbox): NodeJS.ProcessEnv {
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const text = `#!/bin/sh
case " $* " in *" --ff-only "*) kill -KILL "$(cat "$HOME/pid")"; exit 1 ;; esac
exec ${git} "$@"
`;
  chmodSync(box.put("bin/git", text), 0o755);
  return { PATH: `${join(box.root, "bin")}:${box.env.PATH}` };
}

test("D1 a merge that a killed run had landed has landed, also where the issue is closed before anybody can say so", async () => {
  const box = mergeWorld();
  await box.add("one");
  const run = await untilMergeIsGated(box, withKiller(box));
  writeFileSync(join(box.root, "pid"), String(run.pid));
  box.put("gate", "");
  expect((await run.ended).code).toBeNull();
  await box.quick("work", "complete", "one");
  const last = await box.ratchet("run");
  expect(last.code, last.stderr).toBe(0);
  const commit = box.git("rev-parse", "refs/ratchet/landed/main");
  expect(await box.issue("one")).toMatchObject({ status: "success", commit });
  expect(existsSync(join(box.dir, "work.txt"))).toBe(true);
});

/** An issue that its review has failed, with a gate that waits for the file `gate` once the file `slow` is there. */
async function failedWorld(id: string, { env = {}, more = {} } = {}) {
  const box = sandbox();
  const command = box.script("review.sh", `cat >/dev/null\n${failWith("Wrong")}\n`);
  box.put("go", "");
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    commands: { check: `if [ -e "$HOME/slow" ]; then ${waitFor("gate")}; fi` },
    evidence_check: { required: ["check"] },
    per_issue_review: { enabled: true, reviewer_type: "command", command, max_retries: 1 },
    ...more,
  });
  const ratchet = (...args: string[]) => box.start(args, { env });
  if (Object.keys(env).length === 0) await box.add(id);
  expect((await ratchet("run").ended).code).toBe(1);
  const findings = () => box.quick("findings", id, "--all", "--json");
  return { box, ratchet, findings };
}

/** `ratchet land`, until its gate. */
async function untilGated({ box, ratchet }: Awaited<ReturnType<typeof failedWorld>>, id: string) {
  box.put("slow", "");
  const landing = ratchet("land", id);
  await until("it is at the gate", () => isWaitedFor(box, "gate"));
  return landing;
}

test("an issue that a person completes while it is landed by hand does not land, and its findings are as they were", async () => {
  const world = await failedWorld("one");
  const { box, findings } = world;
  const before = await findings();
  const landing = await untilGated(world, "one");
  expect((await box.ratchet("work", "complete", "one")).stderr).toContain("will not land it");
  box.put("gate", "");
  const { code, stdout } = await landing.ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining(`one: interrupted: ${notLanded("closed")}`)]);
  expect([existsSync(join(box.dir, "work.txt")), await box.status("one")]).toEqual([false, "completed"]);
  expect(await findings()).toBe(before);
});

test("an issue in beads that is closed while it is landed by hand does not land", async () => {
  const { beads, env } = await oneBead();
  const world = await failedWorld("bd-1", { env, more: { tracker: { type: "beads" } } });
  const before = await world.findings();
  const landing = await untilGated(world, "bd-1");
  beads.change((state) => {
    state.issues = state.issues.map((issue) => ({ ...issue, status: "closed" }));
  });
  world.box.put("gate", "");
  const { code, stdout } = await landing.ended;
  expect([code, stdout]).toEqual([1, expect.stringContaining(`bd-1: interrupted: ${notLanded("closed")}`)]);
  expect([existsSync(join(world.box.dir, "work.txt")), await world.findings()]).toEqual([false, before]);
  expect(beads.state().issues).toHaveLength(1);
});

test("an issue that was completed before is landed by hand, and what was open gets a follow-up issue", async () => {
  const { box, findings } = await failedWorld("one");
  await box.quick("work", "complete", "one");
  expect((await box.ratchet("land", "one")).code).toBe(0);
  expect(existsSync(join(box.dir, "work.txt"))).toBe(true);
  const [{ status, reason }] = JSON.parse(await findings());
  const items: { id: string; title: string }[] = JSON.parse(await box.quick("work", "list", "--json"));
  const followUp = items.find(({ title }) => title.startsWith("Follow-up of one"));
  expect([status, reason]).toEqual(["waived", `tracked as ${followUp?.id}`]);
});

test("a landing by hand that is stopped has landed nothing, and says so by its exit code", async () => {
  const world = await failedWorld("one");
  const { box } = world;
  const landing = await untilGated(world, "one");
  await box.quick("stop", "one");
  box.put("gate", "");
  const { code, stdout } = await landing.ended;
  expect([code, stdout]).toEqual([1, expect.stringMatching(/ failed: 1 issue interrupted, exit code 1$/m)]);
  expect([existsSync(join(box.dir, "work.txt")), await box.status("one")]).toEqual([false, "failed"]);
});
