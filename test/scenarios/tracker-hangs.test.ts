import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BeadsWorld, beadsWorld } from "../contract/beads-world.js";
import { until } from "../contract/process-support.js";
import { hasPty, openTerminal, type Terminal } from "./pty.js";
import type { Running, Sandbox } from "./sandbox.js";
import { countRan, isWaitedFor, triggerBox, waitFor } from "./trigger-world.js";

interface World {
  readonly box: Sandbox;
  readonly beads: BeadsWorld;
  readonly start: (...args: string[]) => Running;
  readonly terminal: (...args: string[]) => Terminal;
  /** From now on a call with this text hangs, and so does what it has started. */
  readonly hang: (text: string) => void;
  readonly isHanging: () => boolean;
  readonly comeBack: () => void;
}

async function world(agent = ""): Promise<World> {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  await beads.add({ id: "bd-1" });
  const [bd, file] = [join(beads.root, "bin", "bd"), join(beads.root, "issues.json")];
  const hang = `if [ -e "$BD_STUB_FILE.hang" ]; then
  case "$*$(cat "$BD_STUB_FILE")" in *$(cat "$BD_STUB_FILE.hang")*) : >"$BD_STUB_FILE.hangs"; sleep 600 & wait ;; esac
fi
`;
  writeFileSync(bd, readFileSync(bd, "utf8").replace("exec ", `${hang}exec `));
  const box = triggerBox({ commands: {}, triggers: {}, agent, more: { max_agents: 1, tracker: { type: "beads" } } });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  return {
    box,
    beads,
    start: (...args) => box.start(args, { env }),
    terminal: (...args) => openTerminal({ ...box, env: { ...box.env, ...env } }, args, env.PATH),
    hang: (text) => writeFileSync(`${file}.hang`, text),
    isHanging: () => existsSync(`${file}.hangs`),
    comeBack: () => rmSync(`${file}.hang`),
  };
}

const isTold = (run: Running, text: string) => until(text, () => run.stdout().includes(text));

test.runIf(hasPty)("D3 whoever sits in front of a run sees what a claim that hangs waits for", async () => {
  const { terminal, hang } = await world();
  hang("--claim");
  const { answer, see, ended } = terminal("run");
  await see("bd-1: waiting: the tracker's answer to bd update bd-1");
  await answer("", "\u0003\u0003");
  expect(await ended).toBe(130);
});

test("D3 a tracker that hangs is told of, and a stop ends the claim with all that it has started", async () => {
  const { box, beads, start, hang, isHanging, comeBack } = await world();
  hang("--claim");
  const run = start("run");
  await until("it hangs", isHanging);
  await isTold(run, "waiting: the tracker's answer to bd update bd-1");
  const waiting_for = "the tracker's answer to bd update bd-1";
  const { runs } = JSON.parse((await start("status", "--json").ended).stdout);
  expect(runs).toMatchObject([{ issues: [{ issue_id: "bd-1", phase: "claiming", waiting_for }] }]);
  const why = JSON.parse((await start("explain", "bd-1", "--json").ended).stdout);
  expect(why).toMatchObject({
    running: false,
    reason: `run ${runs[0].run_id} is claiming it, waiting: ${waiting_for}`,
    next: "ratchet status",
  });
  run.kill("SIGTERM");
  const { code, stdout } = await run.ended;
  expect([code, stdout]).toEqual([130, expect.stringContaining("bd update bd-1 gave no answer: it was told to stop")]);
  expect(stdout.split("waiting: the tracker")).toHaveLength(2);
  expect(box.processes()).toEqual([]);
  // Nobody knows that it was not claimed.
  comeBack();
  expect((await start("run").ended).code).toBe(0);
  expect([beads.issue("bd-1").status, countRan(box, "implementer bd-1")]).toEqual(["closed", 1]);
});

test("a first interrupt ends a claim that hangs: it would only be given back", async () => {
  const { box, start, hang, isHanging } = await world();
  hang("--claim");
  const run = start("run");
  await until("it hangs", isHanging);
  run.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
  expect(box.processes()).toEqual([]);
});

test("an interrupt ends the question for the next issue, and that is not taken for no work", async () => {
  const { box, beads, start, hang, isHanging } = await world(waitFor("go"));
  await beads.add({ id: "bd-2" });
  const run = start("run");
  await until("its agent waits", () => isWaitedFor(box, "go"));
  hang("ready ");
  box.put("go", "");
  await until("it hangs", isHanging);
  await isTold(run, "Waiting for the tracker to answer bd ready");
  run.kill("SIGINT");
  expect(await run.ended).toMatchObject({ code: 130, stdout: expect.not.stringContaining("nothing is ready") });
  expect([box.processes(), beads.issue("bd-2").status]).toEqual([[], "open"]);
});

test("a run that hangs before it has begun says so, and an interrupt ends it with what it has asked", async () => {
  const { box, start, hang, isHanging } = await world();
  hang("ready ");
  const run = start("run");
  await until("it hangs", isHanging);
  await until("it is said", () => run.stderr().includes("waiting for the tracker to answer bd ready"));
  run.kill("SIGINT");
  expect(await run.ended).toMatchObject({ code: 130, stderr: expect.stringContaining("before anything was started") });
  expect(box.processes()).toEqual([]);
});

test.each([
  [["explain", "bd-1"], "show "],
  [["findings", "bd-1"], "show "],
  [["doctor"], "ready "],
])("%s says that it waits for the tracker, and an interrupt ends it with what it has asked", async (args, call) => {
  const { box, start, hang, isHanging } = await world();
  hang(call);
  const asking = start(...args);
  await until("it hangs", isHanging);
  await until("it is said", () => asking.stderr().includes(`waiting for the tracker to answer bd ${call}`.trimEnd()));
  asking.kill("SIGINT");
  const { code, stdout, stderr } = await asking.ended;
  expect([code, stdout, stderr.split("waiting for the tracker").length]).toEqual([130, "", 2]);
  await until("its program has ended", () => box.processes().length === 0);
});

test("whoever is killed, or has not begun to listen, leaves no program behind", async () => {
  const { box, start, hang, isHanging } = await world();
  hang("show ");
  const run = start("run", "bd-1");
  await until("it hangs", isHanging);
  run.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
  await until("its program has ended", () => box.processes().length === 0);
});

test("a call that hangs when its run is killed is ended by the next start, and no other is", async () => {
  const { box, beads, start, hang, isHanging, comeBack } = await world();
  hang("--claim");
  const killed = start("run");
  await until("it hangs", isHanging);
  killed.kill("SIGKILL");
  await killed.ended;
  const left = box.processes();
  expect(left).not.toEqual([]);
  hang("ready ");
  const asking = start("run", "--dry-run");
  await until("what was left has ended", () => !box.processes().some((one) => left.includes(one)));
  await until("another one hangs", () => box.processes().some((one) => one.includes("ready")));
  comeBack();
  await start("explain", "bd-1").ended;
  expect(box.processes().some((one) => one.includes("ready"))).toBe(true);
  asking.kill("SIGINT");
  await asking.ended;
  expect((await start("run").ended).code).toBe(0);
  expect([box.processes(), beads.issue("bd-1").status]).toEqual([[], "closed"]);
  expect(readdirSync(join(box.home, "beads-calls"))).toEqual([]);
});

test("D3 what has landed while the tracker hangs is owed after a stop, and told by the next run", async () => {
  const { box, beads, start, hang, isHanging, comeBack } = await world();
  hang("close bd-1");
  const run = start("run");
  await until("it hangs", isHanging);
  await isTold(run, "waiting: the tracker's answer to bd close bd-1");
  const seen = JSON.parse((await start("status", "--json").ended).stdout);
  expect(seen.runs[0].issues[0]).toMatchObject({ waiting_for: "the tracker's answer to bd close bd-1" });
  run.kill("SIGTERM");
  expect((await run.ended).code).toBe(130);
  expect([box.processes(), (await box.issue("bd-1")).status]).toEqual([[], "success"]);
  comeBack();
  expect((await start("run").ended).stdout).toContain("The tracker knows now that bd-1 is done");
  expect([beads.issue("bd-1").status, countRan(box, "implementer bd-1")]).toEqual(["closed", 1]);
});

test.each(["", "export BD_STUB_STUBBORN=1"])(
  "D1 a claim that the program enters under another name is the run's own after a kill (%s)",
  async (stubborn) => {
    const { box, beads, start, hang, isHanging, comeBack } = await world();
    const bd = join(beads.root, "bin", "bd");
    writeFileSync(bd, readFileSync(bd, "utf8").replace("\n", `\nexport BD_STUB_CLAIMS_AS=me\n${stubborn}\n`));
    // Until it is claimed, nothing does.
    hang('show bd-1*"status":"in_progress"');
    const run = start("run");
    await until("it hangs", isHanging);
    run.kill("SIGKILL");
    await run.ended;
    expect(beads.issue("bd-1")).toMatchObject({ status: "in_progress", assignee: "me" });
    comeBack();
    expect((await start("run").ended).code).toBe(0);
    expect([beads.issue("bd-1").status, countRan(box, "implementer bd-1")]).toEqual(["closed", 1]);
  },
);
