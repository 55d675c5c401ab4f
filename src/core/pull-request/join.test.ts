import { describe, expect, test } from "vitest";
import { PrWorld, remark, rework } from "./fixture.js";

const statusOf = (world: PrWorld, id: string) => world.life.state.deliveries[id]?.status;

/** A cycle whose item nobody has begun. */
function waiting(): PrWorld {
  const world = new PrWorld();
  world.remarks = [remark("review:1")];
  return world.look();
}

describe("while nobody has begun a cycle", () => {
  test("what has come since goes along with it, and is answered with it", () => {
    const world = waiting();
    world.remarks.push(remark("comment:2"), remark("inline:3"));
    world.look().look();
    expect(world.all("join")).toMatchObject([
      { cycle: 1, item: rework(1).id, parts: ["comment:2", "inline:3"], feedback: null },
    ]);
    world.push(1, "ccc").look().look();
    expect(world.all("cycle")).toHaveLength(1);
    expect(world.all("post")).toMatchObject([
      { op: "reply", thread: "3", commit: "ccc" },
      { op: "summary", parts: ["review:1", "comment:2"] },
    ]);
  });

  test("P4 so does what could not be fetched when it was made; that it could not is told once", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1")];
    world.failed = [{ part: "inline", result: "timeout", reason: "30 s" }];
    world.look().look();
    expect(world.all("note")).toHaveLength(1);
    expect(world.life.state.cursor).toBeNull();
    world.failed = [];
    world.remarks.push(remark("inline:2"));
    world.look();
    expect(world.all("join")).toMatchObject([{ parts: ["inline:2"] }]);
    expect(world.life.state.cursor).not.toBeNull();
  });

  test("a person's further words join it, and words are no remark at the forge that wants an answer", () => {
    const world = new PrWorld();
    for (const feedback of ["A", "B", "A"]) world.signal({ name: "rework", cycle: null, feedback }).look();
    expect(world.all("cycle")).toMatchObject([{ feedback: "A" }]);
    expect(world.all("join")).toMatchObject([{ cycle: 1, feedback: "B" }]);
    world.push(1, "ccc").look();
    expect([world.all("cycle").length, world.all("post")]).toEqual([1, []]);
  });
});

test("what the board refuses because somebody was quicker waits for the next cycle, and is not asked for again", () => {
  const world = waiting();
  world.remarks.push(remark("comment:2"));
  const isStale = { ...rework(1), status: "available" } as const;
  world.signal({ name: "look" });
  const look = world.find("look");
  const seen = world.looked(look?.key ?? "");
  world.set(rework(1).id, { status: "claimed" });
  world.send({ ...seen, items: [...seen.items.filter(({ id }) => id !== isStale.id), isStale] });
  world.look().look();
  expect([world.all("join").length, statusOf(world, "comment:2")]).toEqual([1, "waiting"]);
  world.push(1, "ccc").look();
  expect(world.all("cycle")[1]).toMatchObject({ cycle: 2, parts: ["comment:2"] });
});

test("nothing is answered or begun while it is not known whether something joined", () => {
  const world = waiting();
  world.remarks.push(remark("comment:2"));
  world.signal({ name: "look" });
  world.send(world.looked(world.find("look")?.key ?? ""));
  const join = world.find("join");
  world.push(1, "ccc").signal({ name: "look" });
  world.send(world.looked(world.find("look")?.key ?? ""));
  expect(world.find("post")).toBeUndefined();
  world.send({ type: "joined", key: join?.key ?? "", taken: true });
  world.look();
  expect(world.all("post")).toMatchObject([{ op: "summary", parts: ["review:1", "comment:2"] }]);
  expect(world.all("cycle")).toHaveLength(1);
});

describe("a person's words are never lost", () => {
  test("said while a person is asked for, they go along once that is decided, counted anew", () => {
    const world = waiting();
    world.limit = { max: 1, from: "project", ignored: null };
    world.push(1, "ccc").look();
    for (const feedback of ["A", "B"]) world.signal({ name: "rework", cycle: null, feedback }).look();
    expect([world.all("escalate").length, world.all("cycle").length]).toEqual([1, 1]);
    world.escalated = false;
    world.look();
    expect(world.all("cycle")[1]).toMatchObject({ cycle: 2, counted: 1, maxCycles: 1, feedback: "A\n\nB" });
  });

  test("of a rework that changed nothing they go along with the next", () => {
    const world = new PrWorld();
    world.signal({ name: "rework", cycle: null, feedback: "A" }).look();
    world.set(rework(1).id, { status: "waiting_for_response", reason: "nothing changed" }).look();
    world.escalated = false;
    world.look();
    expect(world.all("cycle")[1]).toMatchObject({ cycle: 2, feedback: "A" });
  });
});

test("a cycle says what it is about", () => {
  const reasonOf = (more: Partial<PrWorld>) => Object.assign(new PrWorld(), more).look().all("cycle")[0]?.reason;
  const conflict = { ...new PrWorld().pullRequest, mergeable: false };
  expect(reasonOf({ remarks: [remark("review:1"), remark("comment:2")] })).toBe("changes requested by ada; a comment");
  expect(reasonOf({ pullRequest: conflict })).toBe("conflict with main");
});
