import { describe, expect, test } from "vitest";
import type { PrEffect } from "./effects.js";
import type { SeenPullRequest } from "./events.js";
import { check, PrWorld, remark } from "./fixture.js";
import { isMergeDue, refusalOf } from "./merge.js";

const minute = 60_000;
const approved = remark("review:1", { verdict: "approved" });

/** A forge that refuses to merge, for the reason it is given, until there is none. */
class RefusingWorld extends PrWorld {
  reason: string | null = "405 Base branch was modified";

  protected override perform(effect: PrEffect) {
    if (effect.kind !== "merge" || this.reason === null) return super.perform(effect);
    this.done.push(effect);
    this.send({ type: "merge-ended", key: effect.key, outcome: { type: "refused", reason: this.reason } });
  }
  tries(): number {
    return this.all("merge").length;
  }
  notes(): string[] {
    return this.all("note").flatMap(({ note }) => (note.type === "log" ? [note.text] : []));
  }
}

function refused(): RefusingWorld {
  const world = new RefusingWorld({ merge: "squash" });
  world.remarks = [approved];
  world.look();
  expect(world.tries()).toBe(1);
  return world;
}

describe("a merge that the forge refused", () => {
  test("is tried again after a while, less and less often, and its reason is told once", () => {
    const world = refused();
    expect(world.look().tries()).toBe(1);
    for (const [wait, tries] of [
      [minute, 2],
      [minute, 2],
      [5 * minute, 3],
      [5 * minute, 3],
      [30 * minute, 4],
    ] as const) {
      world.now += wait;
      expect(isMergeDue(world.life.state, world.now)).toBe(tries > world.tries());
      expect(world.look().tries()).toBe(tries);
    }
    expect(world.notes()).toEqual(["not merged: 405 Base branch was modified"]);
    expect(refusalOf(world.life.state)?.reason).toBe("405 Base branch was modified");
    world.reason = "two approvals are needed";
    world.now += 600 * minute;
    expect(world.look().look().notes()).toHaveLength(2);
    world.reason = null;
    world.now += 600 * minute;
    world.look();
    expect(world.life.state.phase).toBe("merged");
    expect(refusalOf(world.life.state)).toBeNull();
  });

  test.each<[string, (world: PrWorld) => void]>([
    ["an approval more", ({ remarks }) => remarks.push(remark("review:2", { verdict: "approved", login: "bob" }))],
    ["a check that passed", ({ checks }) => checks.push(check("ci", "success"))],
    ["another base", (world) => Object.assign(world.pullRequest, { base: "b2" })],
    ["a draft that is ready again", (world) => toggle(world, { draft: true }, { draft: false })],
    ["a conflict that is gone", (world) => toggle(world, { mergeable: null }, { mergeable: true })],
    ["a person who asks by name", (world) => void world.signal({ name: "look", byHand: true })],
  ])("is tried again at once with %s", (_, change) => {
    const world = refused();
    change(world);
    expect(world.look().tries()).toBe(2);
  });

  test("is not tried twice at a time, nor because something could not be asked", () => {
    const world = refused();
    world.failed = [{ part: "checks", result: "error", reason: "502" }];
    world.look();
    world.failed = [];
    expect(world.look().tries()).toBe(1);
  });
});

function toggle(world: PrWorld, first: Partial<SeenPullRequest>, then: Partial<SeenPullRequest>): void {
  world.pullRequest = { ...world.pullRequest, ...first };
  world.look();
  world.pullRequest = { ...world.pullRequest, ...then };
}

test.each<[string, Partial<PrWorld>]>([
  ["draft", { pullRequest: { ...new PrWorld().pullRequest, draft: true } }],
  ["untrusted-author", { pullRequest: { ...new PrWorld().pullRequest, own: false, author: "eve" } }],
  ["stale-approval", { remarks: [remark("review:1", { verdict: "approved", commit: "old" })] }],
  ["no-approval", { remarks: [] }],
  ["checks-pending", { checks: [check("ci", "pending")] }],
  ["unknown", { pullRequest: { ...new PrWorld().pullRequest, mergeable: null } }],
])("P10 what keeps it from being merged is remembered: %s", (obstacle, seen) => {
  const world = new PrWorld({ merge: "squash" });
  world.remarks = [approved];
  Object.assign(world, seen);
  world.look();
  expect([world.life.state.unmerged, world.all("merge")]).toEqual([obstacle, []]);
});
