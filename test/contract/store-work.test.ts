import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scope } from "../../src/core/ports/tracker.js";
import type { NewWorkItem } from "../../src/core/ports/work-items.js";
import type { Board } from "../../src/store/store.js";
import { localTracker } from "../../src/trackers/local.js";
import { newItem } from "./new-item.js";
import { reworkItem } from "./pull-request-items.js";
import { type TempStore, tempStore } from "./temp-store.js";

const day = 86_400_000;
let temp: TempStore;
let now: number;
let board: Board;
beforeEach(async () => {
  now = 1_700_000_000_000;
  temp = await tempStore({ now: () => now });
  board = temp.store.workItems;
  await temp.store.registerProject("/work/p");
});
afterEach(() => temp.done());

const add = (parts: Partial<NewWorkItem>) => board.add(newItem("p", parts));
async function ready(scope: Scope = { type: "all" }, resume = false): Promise<string[]> {
  return (await board.ready({ projectId: "p", scope, resume, limit: 50, now })).map((item) => item.id);
}
async function statusOf(id: string): Promise<string | undefined> {
  return (await board.get("p", id))?.status;
}
async function complete(id: string): Promise<void> {
  await board.claim("p", id, { holder: "r", leaseUntil: null, now });
  expect(await board.settle("p", id, "r", { status: "completed", reason: null, commit: "c0ffee" })).toBe(true);
}

describe("adding", () => {
  it("numbers items by project and steps over a number that is taken", async () => {
    expect(await add({})).toEqual({ ok: true, id: "p-1" });
    expect(await add({ id: "p-2" })).toEqual({ ok: true, id: "p-2" });
    expect(await add({})).toEqual({ ok: true, id: "p-3" });
  });

  it.each([
    ["a taken id", { id: "taken" }, "the id taken is taken"],
    ["an id that starts with a dot", { id: ".x" }, "no valid id"],
    ["an id with a slash", { id: "a/b" }, "no valid id"],
    ["an id of 65 characters", { id: "x".repeat(65) }, "no valid id"],
    ["an unknown dependency", { id: "new", deps: ["nobody"] }, "no item nobody in p"],
    ["a dependency on itself", { id: "new", deps: ["new"] }, "new cannot depend on itself"],
    ["a parent that is no epic", { id: "new", parent: "taken" }, "no epic taken in p"],
    ["an unknown project", { projectId: "q" }, "no project q"],
  ])("refuses %s and adds nothing", async (_name, parts, reason) => {
    await add({ id: "taken" });
    expect(await add(parts)).toMatchObject({ ok: false, reason: expect.stringContaining(reason) });
    expect(await board.get("p", "new")).toBeNull();
  });

  it("keeps text byte for byte", async () => {
    const body = `{"a": \`$x\` %s \u{1F600}\n${"é".repeat(100_000)}`;
    await add({ id: "text", body, title: "'; DROP TABLE work_items; --" });
    expect(await board.get("p", "text")).toMatchObject({ body, title: "'; DROP TABLE work_items; --" });
  });
});

describe("order", () => {
  it("S4 counts priority and age: P1 of today, P2 of 9 days, P3 of 11 days", async () => {
    await add({ id: "p3", priority: 3, createdAt: now - 11 * day });
    await add({ id: "p2", priority: 2, createdAt: now - 9 * day });
    await add({ id: "p1", priority: 1, createdAt: now });
    expect(await ready()).toEqual(["p1", "p2", "p3"]);
  });

  it("puts the older first where the score is the same, also beyond ten days", async () => {
    await add({ id: "young", createdAt: now - 20 * day });
    await add({ id: "old", createdAt: now - 30 * day });
    expect(await ready()).toEqual(["old", "young"]);
  });

  it("lets an old P2 pass a P2 of today but not a P1", async () => {
    await add({ id: "new-p2", priority: 2 });
    await add({ id: "old-p2", priority: 2, createdAt: now - 40 * day });
    await add({ id: "new-p1", priority: 1 });
    expect(await ready()).toEqual(["new-p1", "old-p2", "new-p2"]);
  });

  it("is the same for the first few as for all", async () => {
    const ages = [0, 3, 5, 9, 40];
    for (const priority of [0, 1, 2, 3] as const)
      for (const age of ages) await add({ id: `p${priority}-${age}`, priority, createdAt: now - age * day });
    const all = await ready();
    expect(all.slice(0, 2)).toEqual(["p0-40", "p0-9"]);
    expect(all.indexOf("p3-40")).toBeLessThan(all.indexOf("p2-3"));
    for (let limit = 1; limit <= all.length; limit++) {
      const some = await board.ready({ projectId: "p", scope: { type: "all" }, resume: false, limit, now });
      expect(some.map(({ id }) => id)).toEqual(all.slice(0, limit));
    }
  });

  it("honours the scope, never shows an epic, and looks below an epic at any depth", async () => {
    await add({ id: "epic", type: "epic" });
    await add({ id: "sub", type: "epic", parent: "epic" });
    await add({ id: "inner", parent: "sub" });
    await add({ id: "outer", parent: "epic" });
    await add({ id: "lone" });
    expect(await ready()).toEqual(["inner", "outer", "lone"].toSorted((a, b) => order(a) - order(b)));
    expect(await ready({ type: "epic", epic: "epic" })).toEqual(["inner", "outer"]);
    expect(await ready({ type: "orphans" })).toEqual(["lone"]);
    expect(await ready({ type: "ids", ids: ["lone", "inner", "nobody"] })).toEqual(["inner", "lone"]);
  });

  it("puts begun and failed items first on resume", async () => {
    await add({ id: "fresh", priority: 0 });
    await add({ id: "failed", priority: 3 });
    await add({ id: "stopped", priority: 2 });
    for (const id of ["failed", "stopped"]) await board.claim("p", id, { holder: "r", leaseUntil: null, now });
    await board.settle("p", "failed", "r", { status: "failed", reason: "x", commit: null });
    await board.release("p", "stopped", "r");
    expect(await ready()).toEqual(["fresh", "stopped"]);
    expect(await ready({ type: "all" }, true)).toEqual(["stopped", "failed", "fresh"]);
    expect(await board.claim("p", "failed", { holder: "r2", leaseUntil: null, now })).toBe(true);
  });
});
const order = (id: string) => ["inner", "lone", "outer"].indexOf(id);

describe("whoever waits for a change", () => {
  /** Whether what is there when it looks first ends the wait. */
  async function isWokenBy(change: () => Promise<unknown>): Promise<boolean> {
    const cursor = await board.cursor();
    await change();
    const stop = new AbortController();
    const woken = board.changed("p", cursor, stop.signal).then(() => !stop.signal.aborted);
    setImmediate(() => stop.abort());
    return await woken.catch(() => false);
  }

  it("is not woken by a claim, nor by the end of an item that nothing waits for", async () => {
    expect(await isWokenBy(() => add({ id: "lone" }))).toBe(true);
    expect(await isWokenBy(() => complete("lone"))).toBe(false);
  });

  it("is woken by the end of one that another waits for, or that is in an epic or a pull request", async () => {
    await add({ id: "epic", type: "epic" });
    await add({ id: "first" });
    await add({ id: "second", deps: ["first"] });
    await add({ id: "child", parent: "epic" });
    await board.addOnce({ ...reworkItem("p"), id: "rework" });
    for (const id of ["first", "child", "rework"])
      expect([id, await isWokenBy(() => complete(id))]).toEqual([id, true]);
  });
});

describe("dependencies", () => {
  it("S3 may repeat, and free a dependent in the transaction that completes", async () => {
    await add({ id: "b" });
    await add({ id: "a", deps: ["b", "b"] });
    expect((await board.get("p", "a"))?.deps).toEqual(["b"]);
    expect(await ready()).toEqual(["b"]);
    expect(await board.claim("p", "a", { holder: "r", leaseUntil: null, now })).toBe(false);
    await complete("b");
    expect(await ready()).toEqual(["a"]);
  });

  it("S3 wait for all, completed ones not counted", async () => {
    await add({ id: "done" });
    await complete("done");
    await add({ id: "b" });
    await add({ id: "c" });
    await add({ id: "a", deps: ["done", "b", "c"] });
    await complete("b");
    expect(await ready()).toEqual(["c"]);
    await complete("c");
    expect(await ready()).toEqual(["a"]);
  });

  it("S3 refuse a circle of any length and change nothing", async () => {
    await add({ id: "a" });
    for (let n = 1; n <= 5; n++) await add({ id: `n${n}`, deps: [n === 1 ? "a" : `n${n - 1}`] });
    await expect(board.addDeps("p", "a", ["n5"])).rejects.toThrow("n5 already waits for a: that would be a circle");
    await expect(board.addDeps("p", "a", ["a"])).rejects.toThrow("circle");
    await expect(board.addDeps("p", "a", ["nobody"])).rejects.toThrow("no item nobody in p");
    expect(await ready()).toEqual(["a"]);
  });

  it("can be added and removed later", async () => {
    await add({ id: "a" });
    await add({ id: "b" });
    await board.addDeps("p", "a", ["b", "b"]);
    await board.addDeps("p", "a", ["b"]);
    expect(await ready()).toEqual(["b"]);
    await board.removeDeps("p", "a", ["b"]);
    expect(await ready()).toEqual(["a", "b"]);
  });

  it("S2 do not lift an operator's block, but give a failed item another try", async () => {
    await add({ id: "b" });
    await add({ id: "blocked", deps: ["b"] });
    await add({ id: "failed" });
    await board.block("p", "blocked", "not now");
    await board.claim("p", "failed", { holder: "r", leaseUntil: null, now });
    await board.settle("p", "failed", "r", { status: "failed", reason: "x", commit: null });
    await board.addDeps("p", "failed", ["b"]);
    await complete("b");
    expect(await statusOf("blocked")).toBe("blocked");
    expect(await statusOf("failed")).toBe("available");
    await board.unblock("p", "blocked");
    expect(await ready()).toEqual(["blocked", "failed"]);
  });

  it("S2 that came and were completed while an item was worked on give it another try, one", async () => {
    await add({ id: "a" });
    await add({ id: "b" });
    await add({ id: "c" });
    const tracker = localTracker(board, "p");
    await tracker.claim("a", "run");
    await board.addDeps("p", "a", ["b", "c"]);
    await complete("b");
    await tracker.fail("a", "run", "gate_failed");
    expect(await statusOf("a")).toBe("failed");
    await complete("c");
    await tracker.claim("a", "run");
    await add({ id: "d" });
    await board.addDeps("p", "a", ["d"]);
    await complete("d");
    await tracker.fail("a", "run", "gate_failed");
    await tracker.fail("a", "run", "gate_failed");
    expect(await board.get("p", "a")).toMatchObject({ status: "available", failureCount: 2 });
    await board.retry("p", "a");
    await tracker.claim("a", "run");
    await tracker.fail("a", "run", "gate_failed");
    expect(await statusOf("a")).toBe("failed");
  });
});

describe("failing", () => {
  it("S2 requeues until the third failure, then quarantines; only retry brings it back", async () => {
    await add({ id: "a" });
    expect(await board.failItem("p", "a", "one")).toBe("available");
    expect(await board.failItem("p", "a", "two")).toBe("available");
    expect(await board.failItem("p", "a", "three")).toBe("quarantined");
    expect(await ready()).toEqual([]);
    expect(await board.claim("p", "a", { holder: "r", leaseUntil: null, now })).toBe(false);
    await expect(board.unblock("p", "a")).rejects.toThrow("a is quarantined");
    await expect(board.failItem("p", "a", "four")).rejects.toThrow("a is quarantined");
    await board.retry("p", "a");
    expect(await board.get("p", "a")).toMatchObject({ status: "available", failureCount: 0, failureReason: null });
  });

  it("S2 quarantines what a run failed for the third time, and tells it once", async () => {
    await add({ id: "a" });
    for (const reason of ["one", "two"]) await board.failItem("p", "a", reason);
    const tracker = localTracker(board, "p");
    await tracker.claim("a", "r");
    await tracker.fail("a", "r", "three");
    await tracker.fail("a", "r", "three");
    expect(await board.get("p", "a")).toMatchObject({ status: "quarantined", failureCount: 3, failureReason: "three" });
    expect(await ready({ type: "all" }, true)).toEqual([]);
  });

  it("S2 counts a resume's failure, and quarantines for it neither then nor later", async () => {
    await add({ id: "a" });
    const tracker = localTracker(board, "p");
    const fail = async (resumed: boolean) => {
      await tracker.claim("a", "r");
      await tracker.fail("a", "r", "no luck", { resumed });
      const { status, failureCount } = (await board.get("p", "a")) ?? {};
      return `${status} ${failureCount}`;
    };
    expect([await fail(false), await fail(true), await fail(true)]).toEqual(["failed 1", "failed 2", "failed 3"]);
    expect(await board.failItem("p", "a", "by hand")).toBe("available");
    expect(await fail(true)).toBe("failed 5");
    expect(await fail(false)).toBe("quarantined 6");
    await board.retry("p", "a");
    expect([await fail(false), await fail(false), await fail(false)]).toEqual([
      "failed 1",
      "failed 2",
      "quarantined 3",
    ]);
  });

  it("of a claimed item counts once and only for its holder", async () => {
    await add({ id: "a" });
    await board.claim("p", "a", { holder: "r", leaseUntil: null, now });
    const failed = { status: "failed", reason: "gate_failed", commit: null } as const;
    expect(await board.settle("p", "a", "other", failed)).toBe(false);
    expect(await board.settle("p", "a", "r", failed)).toBe(true);
    expect(await board.settle("p", "a", "r", failed)).toBe(false);
    expect(await board.get("p", "a")).toMatchObject({
      status: "failed",
      failureCount: 1,
      failureReason: "gate_failed",
    });
  });
});

describe("the board", () => {
  it("keeps a history of every change, with a cursor over all items", async () => {
    await add({ id: "a" });
    await complete("a");
    await add({ id: "b" });
    expect((await board.events("p", "a")).map((event) => event.type)).toEqual(["added", "claimed", "completed"]);
    const all = await temp.store.observeAfter(0, 100);
    expect(all.map((event) => `${event.item_id} ${event.type}`)).toEqual([
      "a added",
      "a claimed",
      "a completed",
      "b added",
    ]);
    expect(await temp.store.observeAfter(all.at(-2)?.id ?? 0, 100)).toEqual(all.slice(-1));
  });

  it("lists in the order of adding, by status, within a limit, in one project or all", async () => {
    await temp.store.registerProject("/work/q");
    for (const id of ["a", "b", "c"]) await add({ id });
    await board.add(newItem("q", { id: "other" }));
    await complete("b");
    const list = async (projectId: string | null, statuses: Parameters<Board["list"]>[0]["statuses"], limit = 10) =>
      (await board.list({ projectId, statuses, limit })).map((item) => item.id);
    expect(await list("p", null)).toEqual(["a", "b", "c"]);
    expect(await list("p", ["available", "claimed"])).toEqual(["a", "c"]);
    expect(await list("p", ["completed"])).toEqual(["b"]);
    expect(await list(null, ["available"])).toEqual(["a", "c", "other"]);
    expect(await list("p", null, 2)).toEqual(["a", "b"]);
  });

  it("keeps one open follow-up per source, and no paragraph twice", async () => {
    await add({ id: "a" });
    const { id: first } = await board.appendFollowUp("p", "a", { title: "Follow-up of a", body: "one\n\ntwo" });
    const { id: again } = await board.appendFollowUp("p", "a", { title: "Follow-up of a", body: "two\n\nthree" });
    expect(again).toBe(first);
    expect(await board.get("p", first)).toMatchObject({
      body: "one\n\ntwo\n\nthree",
      priority: 3,
      followUpOf: "a",
      source: "review-followup",
    });
    const runs = ["run-20261116-120000-aaaaaa", "run-20261116-120000-bbbbbb", "run-20261116-120000-cccccc"];
    const told = await Promise.all(
      runs.map((run) => board.appendFollowUp("p", run, { title: "t", body: "- x\n  <!-- ratchet:3f2a -->" })),
    );
    expect(new Set(told.map(({ id }) => id)).size).toBe(1);
    const both = await Promise.all(["b", "b"].map((id) => board.appendFollowUp("p", id, { title: "t", body: "x" })));
    expect(new Set(both.map(({ id }) => id)).size).toBe(1);
    await complete(first);
    expect((await board.appendFollowUp("p", "a", { title: "t", body: "four" })).id).not.toBe(first);
  });
});
