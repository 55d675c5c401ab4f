import { expect, test } from "vitest";
import { check, PrWorld, remark, review, rework } from "./fixture.js";

const pass = { verdict: "pass", findings: [] } as const;

function reviewed(): PrWorld {
  const world = new PrWorld({ review: { enabled: true }, merge: "squash" });
  world.items = [review(0)];
  return world.look();
}
function pushByHand(world: PrWorld, head: string): PrWorld {
  world.pullRequest = { ...world.pullRequest, head };
  world.checks = [check("ci", "success", head)];
  return world;
}

test("P10 a head that a person pushed after our verdict is reviewed too, once, and merged after it passed", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "completed", commit: "aaa", verdict: pass });
  pushByHand(world, "bbb").look().look();
  expect(world.all("review")).toMatchObject([{ cycle: 0, times: 1, predecessor: null }]);
  expect(world.life.state.unmerged).toBe("review-due");
  world.set("again-1", { status: "completed", commit: "bbb", verdict: pass });
  world.look();
  expect(world.all("merge")).toMatchObject([{ head: "bbb" }]);
});

test("P10 a verdict on the head before the push leads to a review of the new one; each head is asked for once", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "claimed" });
  pushByHand(world, "bbb").look();
  world.set(review(0).id, { status: "completed", commit: "aaa", verdict: pass }).look();
  expect(world.all("review")).toHaveLength(1);
  // It judged another commit after all, or somebody completed it by hand.
  world.set("again-1", { status: "completed", commit: "aaa", verdict: pass }).look();
  world.look();
  expect(world.all("review")).toHaveLength(1);
  pushByHand(world, "aaa").look();
  expect([world.all("review").length, world.life.state.passed]).toEqual([1, "aaa"]);
});

test("a review comes with the rework that is due; where people review none is asked for", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "completed", commit: "aaa", verdict: pass });
  world.remarks = [remark("review:1")];
  pushByHand(world, "bbb").look().set(rework(1).id, { status: "claimed" }).look();
  world.push(1, "ccc").set(review(1).id, { status: "available" }).look();
  expect(world.all("review")).toEqual([]);
  const people = new PrWorld({ merge: "squash" });
  people.items = [{ ...review(0), status: "completed" }];
  expect(pushByHand(people, "bbb").look().all("review")).toEqual([]);
});

test("P10 without a verdict our reviewer is asked again once a person has decided, and its word counts", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "waiting_for_response", reason: "no verdict" }).look().look();
  expect([world.all("escalate").length, world.all("review").length]).toEqual([1, 0]);
  world.escalated = false;
  world.look().look();
  expect(world.all("review")).toMatchObject([{ times: 1, predecessor: review(0).id }]);
  world.set("again-1", { status: "waiting_for_response", reason: "no verdict" }).look();
  expect(world.all("escalate")).toHaveLength(2);
  world.escalated = false;
  world.checks = [check("ci", "success")];
  world.look().set("again-2", { status: "completed", commit: "aaa", verdict: pass }).look();
  expect(world.all("merge")).toHaveLength(1);
});

test("one that is merged needs nobody: an escalation that could not be told is told no more", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "waiting_for_response", reason: "no verdict" });
  world.signal({ name: "look" });
  const look = world.find("look");
  if (look) world.send(world.looked(look.key));
  const escalate = world.find("escalate");
  if (escalate) world.send({ type: "crashed", key: escalate.key, effect: "escalate", message: "away" });
  world.pullRequest = { ...world.pullRequest, state: "merged" };
  world.look();
  expect([world.all("escalate"), world.all("finish").length, world.owed.size]).toEqual([[], 1, 0]);
});

test("P10 a review that a person put back into the queue counts, although it came to no verdict before", () => {
  const world = reviewed();
  world.set(review(0).id, { status: "waiting_for_response", reason: "no verdict" }).look();
  world.set(review(0).id, { status: "completed", commit: "aaa", reason: null, verdict: pass });
  world.escalated = false;
  expect(world.look().life.state.passed).toBe("aaa");
});
