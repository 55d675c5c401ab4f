import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";
import { attemptsOf, type Sandbox, sandbox, until } from "./sandbox.js";

/** Fails while there is a file `broken-<issue>`, waits while there is `wait-<issue>`. */
const agent = `
cat >/dev/null
echo "$RATCHET_ATTEMPT" >>"$HOME/asked-$RATCHET_ISSUE_ID"
while [ -e "$HOME/wait-$RATCHET_ISSUE_ID" ]; do sleep 0.05; done
[ -e "$HOME/broken-$RATCHET_ISSUE_ID" ] && exit 1
echo done >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
function world(): Sandbox {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", agent) }, max_agents: 2 });
  return box;
}
const asked = (box: Sandbox, id: string) => {
  const file = join(box.root, `asked-${id}`);
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
};
const completed = (box: Sandbox, id: string) =>
  until(`${id} is completed`, async () => (await box.status(id)) === "completed");

test("run --watch waits for work, takes what is added elsewhere, and Ctrl-C ends it once what runs is done", async () => {
  const box = world();
  const run = box.start(["run", "--watch"]);
  await until("it waits", () => run.stdout().includes("Waiting for new work"));
  await box.add("first");
  await completed(box, "first");
  expect(run.isEnded()).toBe(false);
  box.put("wait-second", "");
  await box.add("second");
  await until("second has begun", () => asked(box, "second") === 1);
  run.kill("SIGINT");
  await until("it drains", () => run.stderr().includes("draining"));
  rmSync(join(box.root, "wait-second"));
  expect((await run.ended).code).toBe(130);
  expect(await box.status("second")).toBe("completed");
});

test("what waits for a branch is taken soon after it was landed or merged, with nothing said on the board", async () => {
  const box = world();
  const command = box.script("agent.sh", agent);
  box.configure({ agent: { type: "command", command }, finalize: { mode: "branch" } });
  await box.add("one");
  await box.add("two", { more: ["--dep", "one"] });
  await box.add("three", { more: ["--dep", "two"] });
  const run = box.start(["run", "--watch"]);
  const waits = (times: number) =>
    until("it waits", () => (run.stdout().match(/Waiting for new work/g) ?? []).length === times);
  await waits(1);
  expect(await box.ratchet("land", "one")).toMatchObject({ code: 0 });
  await until("two has begun", () => asked(box, "two") === 1, 10_000);
  await waits(2);
  box.git("merge", "--quiet", "ratchet/two");
  await until("three has begun", () => asked(box, "three") === 1, 10_000);
  run.kill("SIGTERM");
  await run.ended;
});

test("killed while it waits, a watching run is taken up again: it goes on waiting for who watches, and ends for who does not", async () => {
  const box = world();
  const run = box.start(["run", "--watch"]);
  await until("it waits", () => run.stdout().includes("Waiting for new work"));
  run.kill("SIGKILL");
  await run.ended;
  await box.add("one");
  const next = box.start(["run", "--watch"]);
  await completed(box, "one");
  expect(next.isEnded()).toBe(false);
  next.kill("SIGKILL");
  await next.ended;
  await box.add("two");
  expect(await box.ratchet("run")).toMatchObject({ code: 0 });
  expect(await box.status("two")).toBe("completed");
});

test("a run that waits says within seconds that the process of another is gone, once, and that run goes on when it is asked to", async () => {
  const box = world();
  box.put("wait-one", "");
  await box.add("one");
  await box.add("two", { more: ["--dep", "one"] });
  const other = box.start(["run", "one"]);
  await until("one has begun", () => asked(box, "one") === 1);
  const run = box.start(["run", "--watch"]);
  await until("it waits", () => run.stdout().includes("Waiting for new work"));
  other.kill("SIGKILL");
  await other.ended;
  const dead = /^the process of run \S+ is gone, and one is still its own: ratchet run goes on with it$/gm;
  // Far less than the half minute after which it would look by itself.
  await until("it says so", () => dead.test(run.stderr()), 10_000);
  rmSync(join(box.root, "wait-one"));
  expect((await box.ratchet("run", "one")).code).toBe(0);
  await completed(box, "two");
  run.kill("SIGTERM");
  const { stderr } = await run.ended;
  expect(stderr.match(dead)).toHaveLength(1);
  expect(asked(box, "one")).toBe(1);
});

test("without --watch a run that still works takes what is added meanwhile, at once, and then ends by itself", async () => {
  const box = world();
  box.put("wait-long", "");
  await box.add("long");
  const run = box.start(["run"]);
  await until("long has begun", () => asked(box, "long") === 1);
  await box.add("late");
  await completed(box, "late");
  rmSync(join(box.root, "wait-long"));
  expect((await run.ended).code).toBe(0);
  expect(await box.status("long")).toBe("completed");
});

test("a change of the board that brings nothing to start wakes nobody: the run records what it begins, and what ends", async () => {
  const box = world();
  box.put("wait-long", "");
  await box.add("long");
  const run = box.start(["run"]);
  await until("long has begun", () => asked(box, "long") === 1);
  await box.add("blocked", { more: ["--dep", "long"] });
  await box.add("free");
  await completed(box, "free");
  rmSync(join(box.root, "wait-long"));
  expect((await run.ended).code).toBe(0);
  expect(await box.status("blocked")).toBe("completed");
  const { run_id } = await box.record();
  const arrivals = await journalOf(box, `run:${run_id}`);
  const count = (type: string) => arrivals.filter((one) => one === type).length;
  expect(["picked", "child-ended"].map(count)).toEqual([3, 3]);
  // Once for what was added, once for what long has freed.
  expect(count("board-changed")).toBeLessThanOrEqual(2);
});

async function journalOf(box: Sandbox, machine: string): Promise<string[]> {
  const store = await openStore({ home: ratchetHome(box.env) });
  try {
    return (await store.journal(machine)).map((arrival) => (arrival as { type: string }).type);
  } finally {
    store.close();
  }
}

test("an issue that failed lives again in the same run after ratchet retry, in new folders; its success is the run's", async () => {
  const box = world();
  box.put("wait-long", "");
  box.put("broken-bad", "");
  await box.add("long");
  await box.add("bad");
  const run = box.start(["run"]);
  await until("bad has failed", async () => (await box.status("bad")) === "failed");
  rmSync(join(box.root, "broken-bad"));
  expect((await box.ratchet("retry", "bad")).code).toBe(0);
  await completed(box, "bad");
  rmSync(join(box.root, "wait-long"));
  expect((await run.ended).code).toBe(0);
  const record = await box.record();
  expect(record.issues.bad).toMatchObject({ status: "success" });
  const folders = attemptsOf(box, record.run_id, "bad").filter((name) => name.includes("implementer"));
  expect(folders).toEqual(["01-implementer", expect.stringMatching(/^0[2-9]-implementer$/)]);
  expect(asked(box, "bad")).toBe(2);
});

test("an issue that failed after a person completed what it had come to wait for is taken again at once, also with one agent", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", agent) }, max_agents: 1 });
  for (const name of ["wait-a", "broken-a", "wait-long"]) box.put(name, "");
  await box.add("a");
  const run = box.start(["run", "--watch"]);
  await until("a has begun", () => asked(box, "a") === 1);
  for (const id of ["blocker", "other"]) await box.add(id);
  await box.quick("work", "block", "other");
  await box.quick("work", "dep", "a", "--on", "blocker");
  await box.quick("work", "complete", "blocker");
  rmSync(join(box.root, "wait-a"));
  await until("a has failed and lives again", () => asked(box, "a") === 2, 10_000);
  await box.quick("work", "dep", "a", "--on", "other");
  await box.add("long", { more: ["--priority", "P0"] });
  await until("long has begun", () => asked(box, "long") === 1);
  rmSync(join(box.root, "broken-a"));
  await box.quick("work", "unblock", "other");
  await box.quick("work", "complete", "other");
  const { reason } = JSON.parse(await box.quick("explain", "a", "--json"));
  expect(reason).toMatch(/^ready, waiting for a slot in run/);
  rmSync(join(box.root, "wait-long"));
  await completed(box, "a");
  run.kill("SIGTERM");
  await run.ended;
});

test("an issue that was stopped lives again in the same run after ratchet retry, and not before", async () => {
  const box = world();
  for (const id of ["long", "halted"]) box.put(`wait-${id}`, "");
  box.put("broken-bad", "");
  for (const id of ["long", "halted"]) await box.add(id);
  const run = box.start(["run"]);
  await until("both have begun", () => asked(box, "long") + asked(box, "halted") === 2);
  expect((await box.ratchet("stop", "halted")).code).toBe(0);
  await until("halted is free", async () => (await box.status("halted")) === "available");
  await box.add("bad");
  await until("bad has failed", async () => (await box.status("bad")) === "failed");
  expect(asked(box, "halted")).toBe(1);
  rmSync(join(box.root, "wait-halted"));
  expect((await box.ratchet("retry", "halted")).code).toBe(0);
  await completed(box, "halted");
  rmSync(join(box.root, "wait-long"));
  expect((await run.ended).code).toBe(1);
  const { issues } = await box.record();
  expect([issues.halted?.status, issues.bad?.status]).toEqual(["success", "failed"]);
  expect(asked(box, "halted")).toBe(2);
  expect(run.stdout()).toContain("2 of 3");
});
