import { describe, expect, it } from "vitest";
import { createSlots } from "./slots.js";

const never = new AbortController().signal;

describe("slots", () => {
  it("lets no more turns run at once than the limit", async () => {
    const slots = createSlots(2);
    const first = await slots.acquire({ issueId: "a", turn: "first", signal: never });
    await slots.acquire({ issueId: "b", turn: "first", signal: never });
    const order: string[] = [];
    const third = slots.acquire({ issueId: "c", turn: "first", signal: never }).then(() => order.push("granted"));
    await Promise.resolve();
    order.push("released");
    first();
    await third;
    expect(order).toEqual(["released", "granted"]);
  });

  it("serves follow-ups before new implementers, then in order", async () => {
    const slots = createSlots(1);
    const release = await slots.acquire({ issueId: "a", turn: "first", signal: never });
    const order: string[] = [];
    const join = (name: string, turn: "first" | "later") =>
      slots.acquire({ issueId: name, turn, signal: never }).then((done) => {
        order.push(name);
        done();
      });
    const all = [join("new 1", "first"), join("new 2", "first"), join("review 1", "later"), join("review 2", "later")];
    release();
    await Promise.all(all);
    expect(order).toEqual(["review 1", "review 2", "new 1", "new 2"]);
  });

  it("gives a reserved place to the issue it was kept for", async () => {
    const slots = createSlots(1);
    slots.keep("a", await slots.reserve(never));
    let second = false;
    const other = slots.acquire({ issueId: "b", turn: "later", signal: never }).then((release) => {
      second = true;
      return release;
    });
    const release = await slots.acquire({ issueId: "a", turn: "first", signal: never });
    expect(second).toBe(false);
    release();
    await other;
    expect(second).toBe(true);
  });

  it("hands out a kept place once, at once, and none that was not kept", async () => {
    const slots = createSlots(1);
    slots.keep("a", await slots.reserve(never));
    expect(slots.takeKept("b")).toBe(null);
    const release = slots.takeKept("a");
    expect(slots.takeKept("a")).toBe(null);
    const waiting = slots.acquire({ issueId: "b", turn: "first", signal: never });
    release?.();
    (await waiting)();
  });

  it("frees a reservation that is not used, and a release counts once", async () => {
    const slots = createSlots(1);
    slots.keep("a", await slots.reserve(never));
    slots.dropKept("a");
    slots.dropKept("a");
    const release = await slots.acquire({ issueId: "b", turn: "first", signal: never });
    release();
    release();
    await slots.acquire({ issueId: "c", turn: "first", signal: never });
    const late = new AbortController();
    const waiting = slots.acquire({ issueId: "d", turn: "first", signal: late.signal });
    late.abort(new Error("no longer wanted"));
    await expect(waiting).rejects.toThrow("no longer wanted");
  });

  it("counts forced places against the limit", async () => {
    const slots = createSlots(1);
    const forced = slots.force("b");
    let granted = false;
    const waiting = slots.acquire({ issueId: "a", turn: "first", signal: never }).then(() => {
      granted = true;
    });
    await Promise.resolve();
    expect(granted).toBe(false);
    forced();
    await waiting;
    expect(granted).toBe(true);
  });

  it("chooses nothing new before lives that were taken up again have asked for their places, or need none", async () => {
    const slots = createSlots(2);
    for (const id of ["a", "b", "c"]) slots.expect(id);
    const order: string[] = [];
    const fresh = slots.reserve(never).then(() => order.push("new"));
    const running = slots.force("a");
    const begun = slots.acquire({ issueId: "b", turn: "first", signal: never }).then((release) => {
      order.push("begun before");
      return release;
    });
    await begun;
    running();
    await Promise.resolve();
    expect(order).toEqual(["begun before"]);
    slots.dropKept("c");
    await fresh;
    expect(order).toEqual(["begun before", "new"]);
  });

  it("has half as many places after an overload, once for all who ran into it, and gets them back one by one", async () => {
    const slots = createSlots(4);
    expect(slots.shrink(10, 20)).toBe(2);
    expect(slots.shrink(15, 21)).toBeNull();
    expect(slots.shrink(25, 30)).toBe(1);
    expect(slots.shrink(40, 50)).toBeNull();
    const release = await slots.acquire({ issueId: "a", turn: "first", signal: never });
    let second = false;
    const waiting = slots.acquire({ issueId: "b", turn: "first", signal: never }).then(() => {
      second = true;
    });
    await Promise.resolve();
    expect(second).toBe(false);
    expect(slots.grow()).toBe(2);
    await waiting;
    release();
    expect([slots.grow(), slots.grow(), slots.grow()]).toEqual([3, 4, null]);
  });
});
