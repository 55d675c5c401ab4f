import { expect, test } from "vitest";
import { PrWorld } from "./fixture.js";
import { closedLookMs } from "./machine.js";
import { isLookedAt } from "./state.js";

function close(world: PrWorld): PrWorld {
  world.pullRequest = { ...world.pullRequest, state: "closed" };
  return world.look();
}

test("P8 whoever asks for a look while one is under way has got it when that one finds the pull request closed", () => {
  const world = new PrWorld().look();
  world.signal({ name: "look" });
  const before = world.life.state;
  expect([before.looking, isLookedAt(before, before)]).toEqual([true, false]);
  world.signal({ name: "look" });
  expect(isLookedAt(before, world.life.state)).toBe(false);
  close(world);
  expect([world.life.state.looks, world.life.state.phase]).toEqual([before.looks, "closed"]);
  expect(isLookedAt(before, world.life.state)).toBe(true);
});

test("a look that ends before the word has come is not the one that was asked for", () => {
  const world = new PrWorld();
  const before = world.life.state;
  world.look();
  expect(isLookedAt(before, world.life.state)).toBe(false);
  expect(isLookedAt(null, world.life.state)).toBe(true);
  world.look();
  expect(isLookedAt(before, world.life.state)).toBe(true);
});

test.each([
  [1, 10],
  [60, 600],
  [300, 600],
  [3600, 3600],
])(
  "P8 polled every %d s, one that is closed is looked at every %d s: somebody may open it again",
  (poll_seconds, seconds) => {
    const world = close(new PrWorld({ poll_seconds }).look());
    expect((world.find("timer")?.until ?? 0) - world.now).toBe(seconds * 1000);
    expect(closedLookMs({ poll_seconds })).toBe(seconds * 1000);
  },
);
