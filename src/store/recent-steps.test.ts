import { expect, test } from "vitest";
import type { PublicEvent } from "../core/report.js";
import { RecentSteps } from "./recent-steps.js";

const event = (seq: number, text: string): PublicEvent => ({
  seq,
  time: "2026-01-02T03:04:05.000Z",
  run_id: "run",
  type: "log",
  level: "info",
  text,
});
const step = (position: number, ...events: readonly PublicEvent[]) => ({ position, events });
const from = (position: number) => ({ stream: 1, position });

test("gives what came after a position", () => {
  const recent = new RecentSteps();
  recent.add(1, step(5, event(7, "a")));
  recent.add(1, step(6));
  recent.add(1, step(7, event(8, "b"), event(9, "c")));
  expect(recent.after(from(4))).toEqual({ events: [event(7, "a"), event(8, "b"), event(9, "c")], position: 7 });
  expect(recent.after(from(5))).toEqual({ events: [event(8, "b"), event(9, "c")], position: 7 });
});

test("says that it does not know: nothing new, older than it has, another stream, or a gap", () => {
  const recent = new RecentSteps();
  recent.add(1, step(5, event(7, "a")));
  expect(recent.after(from(5))).toBe(null);
  expect(recent.after(from(3))).toBe(null);
  expect(recent.after({ ...from(4), stream: 2 })).toBe(null);
  recent.add(1, step(8, event(9, "d")));
  expect(recent.after(from(5))).toBe(null);
  expect(recent.after(from(7))?.position).toBe(8);
});

test("keeps a bounded number, the newest", () => {
  const recent = new RecentSteps();
  for (let position = 1; position <= 2000; position++) recent.add(1, step(position, event(position, "x")));
  expect(recent.after(from(0))).toBe(null);
  expect(recent.after(from(1999))?.events).toHaveLength(1);
});
