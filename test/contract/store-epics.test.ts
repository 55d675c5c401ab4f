import { afterEach, beforeEach, describe, expect, it } from "vitest";
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

describe("the epic above an item", () => {
  it("is completed with its last child, and what waited for it is free", async () => {
    await complete("a");
    expect(await board.finishEpic("p", "a", "run-1")).toBeNull();
    await complete("b");
    expect(await board.finishEpic("p", "b", "run-1")).toEqual({ id: "sub", isTop: false });
    expect(await board.finishEpic("p", "sub", "run-1")).toEqual({ id: "top", isTop: true });
    expect([await statusOf("sub"), await statusOf("top")]).toEqual(["completed", "completed"]);
    expect(await board.claim("p", "later", { holder: "r", leaseUntil: null, now: Date.now() })).toBe(true);
  });

  it("is completed by one holder, who is told so whenever it asks again", async () => {
    await complete("a");
    await complete("b");
    const asked = await Promise.all(["run-1", "run-2", "run-3"].map((run) => board.finishEpic("p", "b", run)));
    expect(asked.filter((answer) => answer !== null)).toEqual([{ id: "sub", isTop: false }]);
    const again = await Promise.all(["run-1", "run-2", "run-3"].map((run) => board.finishEpic("p", "b", run)));
    expect(again).toEqual(asked);
  });

  it("stays open when it is blocked or a child has failed; an item without one has none", async () => {
    await complete("a");
    await board.failItem("p", "b", "no");
    expect(await board.finishEpic("p", "a", "run-1")).toBeNull();
    await complete("b");
    await board.block("p", "sub", "wait for me");
    expect(await board.finishEpic("p", "b", "run-1")).toBeNull();
    expect(await statusOf("sub")).toBe("blocked");
    expect(await board.finishEpic("p", "later", "run-1")).toBeNull();
    expect(await board.finishEpic("p", "nobody", "run-1")).toBeNull();
  });
});
