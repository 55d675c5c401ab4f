import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { bornSince, canBeBornBetween, markBirths } from "./births.js";

const numbers = 32_768;
const mark = { lastPid: 1000, births: 50_000 };

test.each([
  ["a later number", { lastPid: 1200, births: 50_300 }, 1001, true],
  ["a number of the circle before, beyond the last one", { lastPid: 1200, births: 50_300 }, 1201, false],
  ["an older number", { lastPid: 1200, births: 50_300 }, 1000, false],
  ["an older number after the circle began anew", { lastPid: 400, births: 60_000 }, 900, false],
  ["a small number after the circle began anew", { lastPid: 400, births: 60_000 }, 350, true],
  ["a large number after the circle began anew", { lastPid: 400, births: 60_000 }, 32_000, true],
  ["any number after births enough to close the circle", { lastPid: 1200, births: 50_000 + numbers / 2 }, 12, true],
])("%s: born since, %#", (_name, now, pid, expected) => {
  expect(canBeBornBetween(mark, { ...now, numbers, alive: 300 }, pid)).toBe(expected);
});

test("where most numbers are in use nothing is certain", () => {
  const now = { lastPid: 1200, births: 50_300, numbers, alive: numbers / 4 };
  expect(canBeBornBetween(mark, now, 12)).toBe(true);
});

test.runIf(process.platform === "linux")(
  "whoever was there at the mark is not born since, whoever comes later is",
  () => {
    markBirths();
    const born = () => spawn("sleep", ["600"], { stdio: "ignore" });
    const before = born();
    const mark = markBirths();
    const later = born();
    try {
      const since = bornSince(mark, () => [before.pid ?? 0, later.pid ?? 0]).pids;
      expect(since).toContain(later.pid);
      expect(since).not.toContain(before.pid);
    } finally {
      for (const child of [before, later]) child.kill("SIGKILL");
    }
  },
);

test.runIf(process.platform === "linux")(
  "however many numbers were given out since, whoever has one of them is found",
  () => {
    const mark = markBirths();
    const children = Array.from({ length: 120 }, () => spawn("sleep", ["600"], { stdio: "ignore" }));
    try {
      const all = children.map(({ pid }) => pid ?? 0);
      const { pids, mostWork } = bornSince(mark, () => [1, process.pid, ...all]);
      expect(mostWork).toBe(true);
      // Where the circle began anew in between, others may have been, too.
      expect(pids).toEqual(expect.arrayContaining(all));
    } finally {
      for (const child of children) child.kill("SIGKILL");
    }
  },
);
