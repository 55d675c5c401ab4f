import { spawn } from "node:child_process";
import { once } from "node:events";
import { hostname } from "node:os";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, expect, it } from "vitest";
import { selfIdentity } from "../../src/lib/process-identity.js";
import { newItem } from "./new-item.js";
import { type TempStore, tempStore } from "./temp-store.js";

const month = 30 * 86_400_000;
let temp: TempStore;
let now: number;
beforeEach(async () => {
  now = Date.now();
  temp = await tempStore({ now: () => now });
  await temp.store.registerProject("/work/p");
  write("INSERT INTO runs VALUES ('run-1', 'p', 'running', '', '{}', '{}', '{}')");
});
afterEach(() => temp.done());

function write(sql: string, ...params: (string | number)[]): void {
  const database = new DatabaseSync(temp.home.database);
  database.prepare(sql).run(...params);
  database.close();
}
function insert(runId: string, process: { pid: number; start: string; boot: string }, machine = hostname()): void {
  const { pid, start, boot } = process;
  write("INSERT INTO workers VALUES (?, ?, ?, ?, ?, 'p', 0, 0)", runId, pid, start, boot, machine);
}
async function states(): Promise<string[]> {
  return (await temp.store.workers.list("p")).map(({ runId, state }) => `${runId} ${state}`);
}

it("a worker is there from its start to its end, with its last heartbeat", async () => {
  const { workers } = temp.store;
  await workers.register("run-1");
  now += 30_000;
  await workers.beat("run-1");
  expect(await workers.list(null)).toEqual([
    {
      ...{ runId: "run-1", projectId: "p", machine: hostname(), process: selfIdentity(), state: "alive" },
      ...{ startedAt: now - 30_000, seenAt: now },
    },
  ]);
  expect(await workers.list("other")).toEqual([]);
  await workers.end("run-1");
  expect(await workers.list(null)).toEqual([]);
});

it("S1 one that lives is never swept and keeps its items, whatever the time says", async () => {
  const { workers, workItems } = temp.store;
  await workItems.add(newItem("p", { id: "a" }));
  await workItems.claim("p", "a", { holder: "run-1", leaseUntil: null, now });
  insert("run-1", selfIdentity());
  now += month;
  expect(await workers.sweep()).toEqual([]);
  expect(await states()).toEqual(["run-1 alive"]);
  expect(await workItems.claimNext("p", { holder: "other", leaseUntil: now + month })).toBeNull();
});

it("one whose process is gone is swept by the next, and one on another machine is not judged", async () => {
  const child = spawn(process.execPath, ["-e", ""]);
  const pid = child.pid ?? 0;
  await once(child, "close");
  insert("killed", { ...selfIdentity(), pid });
  insert("rebooted", { ...selfIdentity(), boot: "another-boot" });
  insert("same-number", { ...selfIdentity(), start: "1" });
  insert("elsewhere", { pid: 1, start: "1", boot: "1" }, "another-machine");
  expect((await states()).toSorted()).toEqual([
    "elsewhere unknown",
    "killed dead",
    "rebooted dead",
    "same-number dead",
  ]);
  await temp.store.workers.register("run-1");
  expect((await states()).toSorted()).toEqual(["elsewhere unknown", "run-1 alive"]);
});
