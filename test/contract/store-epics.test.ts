import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Scope } from "../../src/core/ports/tracker.js";
import type { NewWorkItem } from "../../src/core/ports/work-items.js";
import type { Board } from "../../src/store/store.js";
import { newItem } from "./new-item.js";
import { type TempStore, tempStore } from "./temp-store.js";

let temp: TempStore;
let board: Board;
beforeEach(async () => {
  temp = await tempStore();
  board = temp.store.workItems;
  await temp.store.registerProject("/work/p");
  await add({ id: "top", type: "epic" });
  await add({ id: "sub", type: "epic", parent: "top" });
  await add({ id: "a", parent: "sub" });
  await add({ id: "b", parent: "sub" });
  await add({ id: "later", deps: ["sub"] });
});
afterEach(() => temp.done());

const add = (parts: Partial<NewWorkItem>) => board.add(newItem("p", parts));
const statusOf = async (id: string) => (await board.get("p", id))?.status;
const complete = (id: string) => board.complete("p", id, null);

const finish = (epic: string, holder: string) => board.completeEpic("p", epic, { holder, note: "done" });
const due = async (holder = "run-1", scope: Scope = { type: "all" }) =>
  (await board.dueEpics({ projectId: "p", scope, holder, now: Date.now() })).map(({ id }) => id);

describe("an epic", () => {
  it("is due with its last child, and once completed frees what waited for it", async () => {
    await add({ id: "empty", type: "epic" });
    await complete("a");
    expect(await due()).toEqual([]);
    expect(await finish("sub", "run-1")).toBe(false);
    await complete("b");
    expect(await board.dueEpics({ projectId: "p", scope: { type: "all" }, holder: "r", now: 1 })).toEqual([
      { id: "sub", isTop: false },
    ]);
    expect(await finish("sub", "run-1")).toBe(true);
    expect(await due()).toEqual(["top"]);
    expect(await due("run-1", { type: "epic", epic: "sub" })).toEqual([]);
    expect(await finish("top", "run-1")).toBe(true);
    expect([await statusOf("sub"), await statusOf("top")]).toEqual(["completed", "completed"]);
    expect(await board.claim("p", "later", { holder: "r", leaseUntil: null, now: Date.now() })).toBe(true);
  });

  it("that is completed gets no further issues", async () => {
    await complete("a");
    await complete("b");
    await finish("sub", "run-1");
    expect(await add({ id: "c", parent: "sub" })).toMatchObject({
      ok: false,
      reason: "the epic sub is completed and gets no further issues",
    });
    expect(await statusOf("c")).toBeUndefined();
  });

  it("is completed by one holder, who is told so whenever it asks again", async () => {
    await complete("a");
    await complete("b");
    const ask = () => Promise.all(["run-1", "run-2", "run-3"].map((run) => finish("sub", run)));
    const asked = await ask();
    expect(asked.filter(Boolean)).toHaveLength(1);
    expect(await ask()).toEqual(asked);
  });

  it("that one run has claimed is no other run's, and a child added meanwhile keeps it open", async () => {
    await complete("a");
    expect(await board.claimEpic("p", "sub", "run-1")).toBe(false);
    await complete("b");
    expect(await board.claimEpic("p", "sub", "run-1")).toBe(true);
    expect(await board.claimEpic("p", "sub", "run-1")).toBe(true);
    expect(await board.claimEpic("p", "sub", "run-2")).toBe(false);
    expect([await due("run-1"), await due("run-2")]).toEqual([["sub"], []]);
    expect(await finish("sub", "run-2")).toBe(false);
    const { id: made } = await board.appendFollowUp("p", "sub", { title: "t", body: "x", inEpic: true });
    expect(await board.get("p", made)).toMatchObject({ parent: "sub", priority: 1, followUpOf: "sub" });
    expect(await finish("sub", "run-1")).toBe(false);
    await board.release("p", "sub", "run-1");
    await complete(made);
    expect(await finish("sub", "run-2")).toBe(true);
  });

  it("stays open when it is blocked or a child has failed; tasks are none", async () => {
    await complete("a");
    await board.failItem("p", "b", "no");
    expect(await finish("sub", "run-1")).toBe(false);
    expect((await board.childrenOf("p", "sub")).map(({ id, status }) => `${id} ${status}`)).toEqual([
      "a completed",
      "b available",
    ]);
    await complete("b");
    await board.block("p", "sub", "wait for me");
    expect([await due(), await finish("sub", "run-1")]).toEqual([[], false]);
    expect(await statusOf("sub")).toBe("blocked");
    expect([await finish("later", "run-1"), await finish("nobody", "run-1")]).toEqual([false, false]);
  });

  it("that depends on something is due when that is completed, too; its issues do not wait for it", async () => {
    await add({ id: "first" });
    await board.addDeps("p", "sub", ["first"]);
    const ready = await board.ready({
      projectId: "p",
      scope: { type: "all" },
      resume: false,
      limit: 9,
      now: Date.now(),
    });
    expect(ready.map(({ id }) => id)).toEqual(["a", "b", "first"]);
    await complete("a");
    await complete("b");
    expect([await due(), await board.claimEpic("p", "sub", "run-1"), await finish("sub", "run-1")]).toEqual([
      [],
      false,
      false,
    ]);
    await complete("first");
    expect([await due(), await finish("sub", "run-1")]).toEqual([["sub"], true]);
  });

  it("S3 is waited for by none of its issues, however far below or however far around", async () => {
    for (const epic of ["sub", "top"]) {
      await expect(board.addDeps("p", "a", [epic])).rejects.toMatchObject({ code: "cycle", hint: expect.any(String) });
      expect(await add({ id: "new", parent: "sub", deps: [epic] })).toMatchObject({
        ok: false,
        reason: expect.stringContaining("sub is completed only after its issues"),
        hint: expect.stringContaining("outside of the epic"),
      });
    }
    await expect(board.addDeps("p", "a", ["sub"])).rejects.toThrow(
      "sub is completed only after its issues: one of them that waits for sub would never begin",
    );
    // later waits for the epic, so that none of the epic's issues can wait for it.
    await expect(board.addDeps("p", "b", ["later"])).rejects.toThrow("later waits for the epic sub, and sub is");
    expect(await add({ id: "new", parent: "sub", deps: ["later"] })).toMatchObject({ ok: false });
    expect(await board.get("p", "new")).toBeNull();
    // What is done stands in nobody's way.
    await complete("a");
    await board.addDeps("p", "later", ["a", "top"]);
  });

  it("is nobody's to claim by hand", async () => {
    expect(await board.claim("p", "sub", { holder: "me", leaseUntil: 9e12, now: Date.now() })).toBe(false);
    expect(await statusOf("sub")).toBe("available");
  });
});
