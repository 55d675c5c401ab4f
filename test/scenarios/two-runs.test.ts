import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";
import { beadsWorld } from "../contract/beads-world.js";
import { expectNothingLeft } from "./kill-loop.js";
import { sandbox, until } from "./sandbox.js";
import { failWith, pass, triggerBox } from "./trigger-world.js";

const ids = Array.from({ length: 8 }, (_, index) => `item-${index}`);

const agent = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID $RATCHET_RUN_ID" >>"$HOME/starts.log"
sleep 0.2
echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

test("two runs at once on one repository do every issue once", async () => {
  const box = sandbox();
  box.configure({
    commands: { check: 'test -e "$RATCHET_ISSUE_ID.txt"' },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: box.script("agent.sh", agent) },
    max_agents: 2,
  });
  for (const id of ids) await box.add(id);
  const runs = [box.start(["run", "--json"]), box.start(["run", "--json"])];
  const ended = await Promise.all(runs.map((run) => run.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const starts = readFileSync(join(box.root, "starts.log"), "utf8").trim().split("\n");
  expect(starts.map((line) => line.split(" ")[0]).sort()).toEqual([...ids].sort());
  for (const id of ids) expect(await box.status(id)).toBe("completed");
  expect(box.git("ls-tree", "--name-only", "main").split("\n").sort()).toEqual(
    ["README.md", ...ids.map((id) => `${id}.txt`)].sort(),
  );
  expect(box.git("log", "--no-merges", "--format=%s", "main").split("\n").sort()).toEqual(
    ["The beginning", ...ids.map((id) => `Work on ${id}`)].sort(),
  );
  expect(box.git("status", "--porcelain")).toBe("");
  await expectNothingLeft(box);
});

const waiting = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID $RATCHET_RUN_ID" >>"$HOME/starts.log"
while [ ! -e "$HOME/go-$RATCHET_ISSUE_ID" ]; do sleep 0.05; done
echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

test("what was stopped by its name is taken by no run that was there then, until somebody says retry", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", waiting) }, max_agents: 2 });
  const log = box.put("starts.log", "");
  const starts = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  const startsOf = (id: string) => starts().filter((line) => line.startsWith(`${id} `));
  for (const id of ["x1", "y1"]) await box.add(id);
  const first = box.start(["run", "--scope", "ids:x1,y1"]);
  await until("both are at work", () => starts().length === 2);
  await box.add("x2");
  const second = box.start(["run", "--max-agents", "1"]);
  await until("the second run is at work", () => startsOf("x2").length === 1);
  await box.quick("stop", "x1");
  await until("it has stopped", async () => (await box.status("x1")) === "available");
  await box.add("x3");
  box.put("go-x2", "");
  await until("the second run takes the next", () => startsOf("x3").length === 1);
  expect(startsOf("x1")).toHaveLength(1);
  const told = JSON.parse(await box.quick("explain", "x1", "--json"));
  expect(told).toMatchObject({ running: false, next: "ratchet retry x1" });
  for (const id of ["x1", "x3"]) box.put(`go-${id}`, "");
  await box.quick("retry", "x1");
  await until("it is done", async () => (await box.status("x1")) === "completed");
  box.put("go-y1", "");
  expect((await Promise.all([first.ended, second.ended])).map(({ code }) => code)).toEqual([0, 0]);
  expect(startsOf("x1")).toHaveLength(2);
});

const failing = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID" >>"$HOME/starts.log"
while [ -e "$HOME/wait" ] && [ ! -e "$HOME/go-$RATCHET_ISSUE_ID" ]; do sleep 0.05; done
test -e "$HOME/well" || exit 1
echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

test("what failed in one of two resuming runs is left alone by the other, until somebody says retry", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", failing) }, max_agents: 1 });
  const log = box.put("starts.log", "");
  const starts = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  const begun = (...expected: string[]) => until(`${expected} have begun`, () => starts().join() === expected.join());
  for (const id of ["v1", "v2", "v3"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(1);
  box.put("starts.log", "");
  box.put("wait", "");
  const first = box.start(["run", "--resume"]);
  await begun("v1");
  const second = box.start(["run", "--resume"]);
  await begun("v1", "v2");
  box.put("go-v1", "");
  await begun("v1", "v2", "v3");
  const told = JSON.parse(await box.quick("explain", "v1", "--json"));
  expect(told).toMatchObject({ reason: expect.stringContaining("it failed in run"), next: "ratchet retry v1" });
  box.put("go-v3", "");
  expect((await first.ended).code).toBe(1);
  await box.quick("retry", "v1");
  box.put("go-v2", "");
  expect((await second.ended).code).toBe(1);
  expect(starts()).toEqual(["v1", "v2", "v3", "v1"]);
  box.put("well", "");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(starts().slice(4)).toEqual(["v1", "v2", "v3"]);
});

test("B8 two runs that find the same about the repository at once make one follow-up in beads", async () => {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  const [bd, go] = [join(beads.root, "bin", "bd"), join(beads.root, "go")];
  // Whoever looks for a follow-up is answered once both have looked, if both may.
  const look = 'case "$*" in "list --label=review-followup"*) answer=$(stub "$@"); : >"$0.looked-$$"';
  const wait = `while [ ! -e ${go} ]; do sleep 0.02; done; printf "%s" "$answer"; exit ;; esac`;
  const patient = (stub: string) => `stub() { ${stub}; }\n${look}; ${wait}\nstub "$@"`;
  writeFileSync(
    bd,
    readFileSync(bd, "utf8").replace(/exec (.*)/, (_, stub) => patient(stub)),
  );
  const looked = () => readdirSync(join(beads.root, "bin")).length - 1;
  const code_review = { enabled: true, track_review_issues: true };
  const triggers = { run_end: { commands: [], code_review } };
  // Not of the issues: those have follow-ups of their own.
  const reviewer = `if [ -n "$RATCHET_ISSUE_ID" ]; then ${pass}; else ${failWith("Naming", 3)}; fi`;
  const box = triggerBox({ commands: {}, triggers, more: { tracker: { type: "beads" } }, reviewer });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const ids = ["bd-1", "bd-2"];
  for (const id of ids) await beads.add({ id });
  const runs = ids.map((id) => box.start(["run", id], { env }));
  const waits = () => runs.some((run) => run.stdout().includes("waiting: the tracker's answer to another run's"));
  await until("both are at it", () => looked() === 2 || waits());
  writeFileSync(go, "");
  expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);
  expect(beads.state().issues.filter(({ id }) => !ids.includes(id))).toHaveLength(1);
});

test("what a killed run is in the middle of is begun by no other run, whatever the board says", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", waiting) }, max_agents: 1 });
  const log = box.put("starts.log", "");
  const starts = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  await box.add("x1");
  const first = box.start(["run"]);
  await until("it is at work", () => starts().length === 1);
  const second = box.start(["run", "--watch"]);
  await until("it waits", () => second.stdout().includes("Waiting for new work"));
  first.kill("SIGKILL");
  await first.ended;
  const store = await openStore({ home: ratchetHome(box.env) });
  onTestFinished(() => store.close());
  expect(await store.workItems.release("shop", "x1", null)).toBe(true);
  // It comes behind x1, and there is one place.
  box.put("go-x2", "");
  await box.add("x2");
  await until("the other run does what came later", async () => (await box.status("x2")) === "completed");
  expect(starts().map((line) => line.split(" ")[0])).toEqual(["x1", "x2"]);
  box.put("go-x1", "");
  expect((await box.ratchet("run", "x1")).code).toBe(0);
  expect(await box.status("x1")).toBe("completed");
  expect(starts()).toHaveLength(2);
  second.kill("SIGTERM");
  await second.ended;
});

test("what somebody opens again in beads while a killed run is in the middle of it is not taken by another run", async () => {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  const box = sandbox();
  const command = box.script("agent.sh", waiting);
  box.configure({ agent: { type: "command", command }, tracker: { type: "beads" } });
  const log = box.put("starts.log", "");
  const starts = () => readFileSync(log, "utf8").split("\n").filter(Boolean);
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  for (const id of ["bd-1", "bd-2"]) await beads.add({ id });
  const first = box.start(["run", "bd-1"], { env });
  await until("the first is at work", () => starts().length === 1);
  const second = box.start(["run"], { env });
  await until("the second is at work", () => starts().length === 2);
  first.kill("SIGKILL");
  await first.ended;
  beads.change((state) => {
    state.issues = state.issues.map((one) => (one.id === "bd-1" ? { ...one, status: "open", assignee: "" } : one));
  });
  box.put("go-bd-2", "");
  await until("the second has no more to do", () => second.isEnded() || starts().length > 2);
  expect(starts()).toHaveLength(2);
  expect((await second.ended).code).toBe(0);
  box.put("go-bd-1", "");
  expect((await box.start(["run", "bd-1"], { env }).ended).code).toBe(0);
  expect(starts()).toHaveLength(2);
  expect(box.git("show", "main:bd-1.txt")).toBe("bd-1");
});

test("what a person completes while a run works on it is not landed from under that run", async () => {
  const box = sandbox();
  const agent = `echo half >half.txt; git add -A; git commit -qm Half; : >"$HOME/began"\n${waiting}`;
  box.configure({ agent: { type: "command", command: box.script("agent.sh", agent) } });
  await box.add("x1");
  const run = box.start(["run"]);
  await until("half of it is done", () => existsSync(join(box.root, "began")));
  await box.quick("work", "complete", "x1");
  expect(await box.ratchet("land", "x1")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("x1 was not landed: somebody else has taken it meanwhile"),
  });
  box.put("go-x1", "");
  expect((await run.ended).stdout).toContain("x1: interrupted: The issue was closed by someone else");
  expect(box.git("log", "--format=%s", "main")).toBe("The beginning");
});
