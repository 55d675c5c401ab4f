import { expect, it } from "vitest";
import { performStageTimer } from "./timer.js";

it("E7 a time that is up waits for what was said before and is not read yet", async () => {
  const slept: number[] = [];
  const unread = [true, true, false];
  const stop = new AbortController();
  const run = {
    clock: {
      now: () => 1000,
      sleep: async (until: number, signal?: AbortSignal) => {
        signal?.throwIfAborted();
        slept.push(until);
      },
    },
    inbox: { isEmpty: async () => !unread.shift() },
  };
  const timer = { kind: "timer", key: "timer:gate:1", until: 500 } as const;
  const at = { run, machine: { id: "m" } };
  expect(await performStageTimer(at, timer, stop.signal)).toEqual({ event: { type: "timer-fired", key: timer.key } });
  expect([slept, unread]).toEqual([[500, 1020, 1020], []]);
  stop.abort(new Error("answered"));
  await expect(performStageTimer(at, timer, stop.signal)).rejects.toThrow("answered");
});
