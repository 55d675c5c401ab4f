import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

const commits = 'echo "$RATCHET_ISSUE_ID" > "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';

/** An agent that waits while `wait` exists. */
function useAgent(box: Sandbox, text = commits): void {
  const wait = `while [ -e ${box.root}/wait ]; do sleep 0.05; done`;
  box.configure({ agent: { type: "command", command: box.script("agent", `${wait}\n${text}`) } });
}

/** c2 builds on c1, and c3 on c2. */
async function addChain(box: Sandbox): Promise<void> {
  await box.add("c1");
  await box.add("c2", { more: ["--dep", "c1"] });
  await box.add("c3", { more: ["--dep", "c2"] });
}

/** A run of c1 and c2, with the agent at c1 until `wait` is gone. */
async function withC1AtWork() {
  const box = sandbox();
  useAgent(box);
  await addChain(box);
  writeFileSync(join(box.root, "wait"), "");
  const run = box.start(["run", "c1", "c2", "--json"]);
  await until("the agent works", () => run.stdout().includes('"prompt-sent"'));
  return { box, run };
}

const didNotRun = (ended: Ended) =>
  eventsOf(ended).flatMap((event) => (event.type === "log" && / did not run: /.test(event.text) ? [event.text] : []));

/** As the process, the event and the record say it. */
async function codesOf(box: Sandbox, ended: Ended): Promise<unknown[]> {
  const last = eventsOf(ended).at(-1);
  return [ended.code, last?.type === "run-finished" ? last.exit_code : last, (await box.record()).exit_code];
}

test("what waits for a named issue that failed is told at the end of the run", async () => {
  const box = sandbox();
  useAgent(box, "exit 9");
  await addChain(box);
  const ended = await box.ratchet("run", "c1", "c2", "c3", "--json");
  expect(didNotRun(ended)).toEqual(["c2 did not run: blocked by c1", "c3 did not run: blocked by c2"]);
  expect(await codesOf(box, ended)).toEqual([1, 1, 1]);
});

test.each([
  ["the issue is stopped", ["stop", "c1"], [1, 1, 1]],
  ["the run is stopped", ["stop"], [130, 130, 130]],
])("%s: what was named and waits for it is told", async (_how, command, codes) => {
  const { box, run } = await withC1AtWork();
  expect((await box.ratchet(...command)).code).toBe(0);
  const ended = await run.ended;
  expect(didNotRun(ended)).toEqual(["c2 did not run: blocked by c1"]);
  expect(await codesOf(box, ended)).toEqual(codes);
});

test("after a drain what was named and not begun is told, and it may run another time", async () => {
  const { box, run } = await withC1AtWork();
  run.kill("SIGINT");
  await until("it drains", () => run.stdout().includes("Draining"));
  rmSync(join(box.root, "wait"));
  const ended = await run.ended;
  expect(didNotRun(ended)).toEqual(["c2 did not run: the run was drained"]);
  expect(await codesOf(box, ended)).toEqual([130, 130, 130]);
  expect((await box.ratchet("run", "c2", "c3", "c1")).code).toBe(0);
});

test("a named issue that cannot run makes exit code 1 in the event and the record, too", async () => {
  const box = sandbox();
  useAgent(box);
  for (const id of ["done", "held", "ready", "waits"]) await box.add(id);
  await box.ratchet("work", "complete", "done");
  await box.ratchet("work", "claim", "held", "--as", "somebody");
  await box.ratchet("work", "block", "waits");
  const ended = await box.ratchet("run", "done", "held", "ready", "waits", "--json");
  expect(didNotRun(ended)).toEqual(["held did not run: claimed by somebody", "waits did not run: blocked"]);
  expect(await codesOf(box, ended)).toEqual([1, 1, 1]);
  expect((await box.record()).status).toBe("failed");
  expect(await box.status("ready")).toBe("completed");
});

test("named issues that a limit leaves for later make nobody fail", async () => {
  const box = sandbox();
  useAgent(box);
  await box.add("a");
  await box.add("b");
  const ended = await box.ratchet("run", "a", "b", "--max-issues", "1", "--json");
  expect(didNotRun(ended)).toEqual(["b did not run: max_issues is 1, and others were taken before it"]);
  expect(await codesOf(box, ended)).toEqual([0, 0, 0]);
});

test("where a killed run has left nothing that could start, what was named and cannot run is told", async () => {
  const box = sandbox();
  useAgent(box);
  await addChain(box);
  await box.add("free");
  await box.ratchet("work", "block", "free");
  writeFileSync(join(box.root, "wait"), "");
  const killed = box.start(["run", "c1"]);
  await until("the agent works", () => killed.stdout().includes("c1: prompt"));
  killed.kill("SIGKILL");
  await killed.ended;
  rmSync(join(box.root, "wait"));
  const { code, stdout, stderr } = await box.ratchet("run", "c1", "free");
  expect(stdout).toContain("Continuing run ");
  expect([code, stderr.split("\n").filter((line) => line !== "")]).toEqual([
    1,
    Array(2).fill("free is not ready: blocked, use ratchet work unblock free"),
  ]);
  expect(await box.ratchet("logs", "list", "--json").then(({ stdout: runs }) => JSON.parse(runs))).toHaveLength(1);
});

test("a named issue that fails after what it was made to wait for meanwhile was done is tried again in the run", async () => {
  const box = sandbox();
  useAgent(box, `mkdir ${box.root}/failed && exit 9\n${commits}`);
  await box.add("c0");
  await box.add("c1");
  writeFileSync(join(box.root, "wait"), "");
  const run = box.start(["run", "c1", "--json"]);
  await until("the agent works", () => run.stdout().includes('"prompt-sent"'));
  expect((await box.ratchet("work", "dep", "c1", "--on", "c0")).code).toBe(0);
  expect((await box.ratchet("work", "complete", "c0")).code).toBe(0);
  rmSync(join(box.root, "wait"));
  const ended = await run.ended;
  const ends = eventsOf(ended).flatMap((event) => (event.type === "issue-finished" ? [event.status] : []));
  expect(ends).toEqual(["failed", "success"]);
  expect(await codesOf(box, ended)).toEqual([0, 0, 0]);
});
