import { expect, test } from "vitest";
import { PrWorld, remark } from "./fixture.js";

const statusOf = (world: PrWorld, id: string) => world.life.state.deliveries[id]?.status;
const day = 24 * 3_600_000;
const logged = (world: PrWorld) => world.reports.flatMap((one) => ("text" in one ? [String(one.text)] : []));

function closed(world: PrWorld): PrWorld {
  world.pullRequest = { ...world.pullRequest, state: "closed" };
  return world.look();
}
function reopened(world: PrWorld): PrWorld {
  world.pullRequest = { ...world.pullRequest, state: "open" };
  return world.look();
}

test("P8 one that is opened again goes on: what was to be answered goes along with the next cycle, and it is logged", () => {
  const world = new PrWorld();
  world.remarks = [remark("review:1"), remark("inline:2")];
  world.look();
  closed(world);
  expect([world.life.state.phase, statusOf(world, "inline:2")]).toEqual(["closed", "delivered"]);
  expect(world.all("finish")).toMatchObject([{ how: "closed" }]);
  reopened(world);
  expect(world.all("reopen")).toMatchObject([{ cycle: 1, times: 1 }]);
  expect(logged(world)).toContain("pull request #7 was opened again, and is followed again");
  expect(world.all("cycle")).toMatchObject([{ cycle: 1 }, { cycle: 2, parts: ["review:1", "inline:2"] }]);
  world.push(2, "ccc").look().look();
  expect(statusOf(world, "inline:2")).toBe("answered");
  closed(world);
  reopened(world);
  expect(world.all("reopen")).toHaveLength(2);
});

test("P8 a cycle that the closing cut short is not counted", () => {
  const world = new PrWorld();
  world.limit = { max: 1, from: "project", ignored: null };
  world.remarks = [remark("review:1")];
  reopened(closed(world.look()));
  expect(world.all("cycle")).toHaveLength(2);
  expect(world.all("escalate")).toEqual([]);
});

test.each(["closed", "merged"] as const)(
  "P12 what was pushed before it was %s is answered with the commit",
  (state) => {
    const world = new PrWorld();
    world.remarks = [remark("review:1"), remark("inline:2")];
    world.look();
    world.push(1, "ccc");
    world.pullRequest = { ...world.pullRequest, state };
    world.look();
    expect(world.all("post")).toMatchObject([
      { op: "reply", thread: "2", commit: "ccc" },
      { op: "summary", commit: "ccc" },
    ]);
    expect(world.all("finish")).toHaveLength(1);
    reopened(world);
    expect(world.all("cycle")).toHaveLength(1);
  },
);

test("P8 the end is told before it is taken back", () => {
  const world = new PrWorld();
  world.look();
  world.pullRequest = { ...world.pullRequest, state: "closed" };
  world.signal({ name: "look" });
  const send = () => {
    const look = world.find("look");
    if (look) world.send(world.looked(look.key));
  };
  send();
  const finish = world.find("finish");
  world.pullRequest = { ...world.pullRequest, state: "open" };
  world.signal({ name: "look" });
  send();
  expect([world.life.state.phase, world.find("reopen")]).toEqual(["closed", undefined]);
  world.send({ type: "finished", key: finish?.key ?? "" });
  world.look();
  expect(world.all("reopen")).toHaveLength(1);
});

test("one that stays closed is looked at now and then, and after two weeks no more; merged, it is over at once", () => {
  const world = closed(new PrWorld().look());
  expect([...world.owed.values()].map(({ kind }) => kind).sort()).toEqual(["timer", "wait"]);
  const fire = () => world.send({ type: "timer-fired", key: world.find("timer")?.key ?? "" });
  fire();
  world.look();
  expect([world.all("finish").length, world.find("timer") === undefined]).toEqual([1, false]);
  world.now += 15 * day;
  fire();
  world.look();
  expect([...world.owed.keys()]).toEqual([]);
  const merged = closed(new PrWorld().look());
  merged.pullRequest = { ...merged.pullRequest, state: "merged", mergeCommit: "mmm" };
  merged.look();
  expect(merged.all("finish")).toMatchObject([{ how: "closed" }, { how: "merged", commit: "mmm" }]);
  expect([...merged.owed.keys()]).toEqual([]);
});

test("what was posted is remembered by its id", () => {
  const world = new PrWorld();
  world.remarks = [remark("review:1"), remark("inline:2")];
  world.look();
  world.push(1, "ccc").look();
  expect(world.life.state.posted).toEqual(["inline:1", "comment:1"]);
});

test("P11 a bare number that fits two remarks lets none through; its whole name does", () => {
  const world = new PrWorld();
  const eve = { login: "eve", association: "NONE" };
  world.remarks = [remark("comment:5", eve), remark("inline:5", eve)];
  world.look().signal({ name: "admit", id: "5" }).look();
  expect([statusOf(world, "comment:5"), statusOf(world, "inline:5")]).toEqual(["untrusted", "untrusted"]);
  expect(logged(world)).toContainEqual(expect.stringMatching(/5 fits comment:5 and inline:5/));
  world.signal({ name: "admit", id: "comment:5" }).look();
  expect([statusOf(world, "comment:5"), statusOf(world, "inline:5")]).toEqual(["delivered", "untrusted"]);
});

test("P5 a value that cannot be used is told when it is met, once", () => {
  const world = new PrWorld();
  world.remarks = [remark("review:1")];
  world.look();
  const ignored = 'max_rework_cycles: "two" cannot be used and is ignored';
  world.limit = { max: 2, from: "default", ignored };
  world.push(1, "ccc").look();
  world.remarks.push(remark("review:2"));
  world.look().push(2, "ddd").look();
  world.remarks.push(remark("review:3"));
  world.look();
  const notes = world.all("note").filter(({ note }) => note.type === "log" && note.level === "warn");
  expect(notes).toMatchObject([{ note: { text: ignored } }]);
});
