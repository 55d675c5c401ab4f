import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { StatusJson } from "../../src/views/status.js";
import { type Sandbox, sandbox, until } from "./sandbox.js";

/** Gates of two commands that wait for the file `go`, say who they are, and notice another at work: of any name, or, exclusive ones, of the same. */
function configure(box: Sandbox, exclusive = false, most = 1): void {
  const here = (name: string) => join(box.root, name);
  const agent = box.script("agent", 'date > "$RATCHET_ISSUE_ID.txt"; git add -A; git commit -q -m Did\n');
  const busy = here(exclusive && most > 1 ? "busy-$1" : "busy");
  const alone = `mkdir ${busy} || touch ${here("crowd")}; echo "$RATCHET_ISSUE_ID $1" >>${here("order")}`;
  const gate = box.script("gate", `${alone}\nuntil [ -e ${here("go")} ]; do sleep 0.05; done; rmdir ${busy}\n`);
  const command = (name: string) => ({ command: [...gate, name].join(" "), exclusive });
  const commands = { test: command("test"), lint: command("lint") };
  const evidence_check = { required: ["test", "lint"] };
  box.configure({ agent: { type: "command", command: agent }, max_agents: most, commands, evidence_check });
}

async function waiting(box: Sandbox): Promise<string[]> {
  const { runs }: StatusJson = JSON.parse(await box.quick("status", "--json"));
  const issues = runs.flatMap((run) => run.issues);
  return issues.filter((one) => one.waiting_for?.startsWith("a place for")).map((one) => one.issue_id);
}

test("no more gates are at work than max_agents says; the others wait in sight, and a stop reaches them", async () => {
  const box = sandbox();
  configure(box);
  const ids = ["one", "two", "three", "four"];
  for (const id of ids) await box.add(id);
  const run = box.start(["run"]);
  await until("three wait for a place", async () => (await waiting(box)).length === 3);
  const [halted = ""] = await waiting(box);
  const explained = JSON.parse(await box.quick("explain", halted, "--json"));
  expect(explained).toMatchObject({ running: false, next: "ratchet status" });
  expect(explained.reason).toMatch(/\(gating, attempt 1\/3\), waiting: a place for its gate, 1 at a time/);
  expect((await box.ratchet("stop", halted)).code).toBe(0);
  await until("the stopped one is free", async () => (await box.status(halted)) === "available");
  box.put("go", "");
  await run.ended;
  for (const id of ids) expect(await box.status(id)).toBe(id === halted ? "available" : "completed");
  expect(existsSync(join(box.root, "crowd"))).toBe(false);
  const order = readFileSync(join(box.root, "order"), "utf8").split("\n");
  const [first = ""] = order;
  // A life keeps its place from its first command to its last.
  expect(order[1]).toBe(first.replace("test", "lint"));
});

test("who waits for its turn with an exclusive command says who has it, another run included", async () => {
  const box = sandbox();
  configure(box, true, 2);
  const turns = async () => {
    const { runs }: StatusJson = JSON.parse(await box.quick("status", "--json"));
    return runs.flatMap((run) => run.issues).flatMap(({ issue_id, waiting_for: it }) => (it ? [[issue_id, it]] : []));
  };
  for (const id of ["one", "two"]) await box.add(id);
  const run = box.start(["run", "one", "two"]);
  await until("one of them waits for the other", async () => (await turns()).length === 1);
  const [[waits = "", told = ""] = []] = await turns();
  const has = waits === "one" ? "two" : "one";
  expect(told).toBe(`its turn with test, which ${has} has now (exclusive)`);
  const explained = JSON.parse(await box.quick("explain", waits, "--json"));
  expect(explained).toMatchObject({ running: false, reason: expect.stringContaining(`, waiting: ${told}`) });
  expect(JSON.parse(await box.quick("explain", has, "--json"))).toMatchObject({ running: true });
  await box.add("three");
  const beside = box.start(["run", "three"]);
  await until("the third waits, too", async () => (await turns()).length === 2);
  expect(await turns()).toContainEqual(["three", "its turn with test, which another run has now (exclusive)"]);
  box.put("go", "");
  expect([(await run.ended).code, (await beside.ended).code]).toEqual([0, 0]);
  expect(existsSync(join(box.root, "crowd"))).toBe(false);
});

test("an exclusive command that goes on after its run was killed is waited for", async () => {
  const box = sandbox();
  configure(box, true, 2);
  const status = async () => JSON.stringify(JSON.parse(await box.quick("status", "--json")));
  for (const id of ["one", "two"]) await box.add(id);
  const killed = box.start(["run", "one"]);
  await until("its command is at work", () => existsSync(join(box.root, "order")));
  const beside = box.start(["run", "two"]);
  await until("the other waits", async () => (await status()).includes("which another run has now"));
  killed.kill("SIGKILL");
  await killed.ended;
  await until("it says whose it is", async () => (await status()).includes("a run that is gone"));
  const [, pid] =
    /its turn with test, which a run that is gone, in process (\d+), has now \(exclusive\)/.exec(await status()) ?? [];
  expect(box.processes().map((line) => String(Number.parseInt(line, 10)))).toContain(pid);
  const explained = JSON.parse(await box.quick("explain", "two", "--json"));
  expect(explained.reason).toContain(
    `waiting: its turn with test, which a run that is gone, in process ${pid}, has now`,
  );
  box.put("go", "");
  expect((await beside.ended).code).toBe(0);
  expect(existsSync(join(box.root, "crowd"))).toBe(false);
});

test("exclusive gates and their places wait for each other in no circle, landings included", async () => {
  const box = sandbox();
  configure(box, true);
  box.put("go", "");
  for (const id of ["one", "two", "three"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(0);
  expect(existsSync(join(box.root, "crowd"))).toBe(false);
});
