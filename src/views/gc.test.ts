import { expect, it } from "vitest";
import type { GcPlan } from "../core/gc.js";
import { gcLines } from "./gc.js";

const plan: GcPlan = {
  actions: [
    { kind: "run", runId: "r1", path: "/runs/r1" },
    { kind: "folder", path: "/runs/r2" },
    { kind: "landing", path: "/w/_landing-r1" },
    { kind: "slot", path: "/slots/1", worktree: "/w/a" },
    { kind: "pool", path: "/m", folders: 2 },
    { kind: "mirror", path: "/m", prune: false },
  ],
  kept: [{ runId: "r3", why: "it is not over" }],
};
it("says what went, what would go, and what stays and why", () => {
  expect(gcLines(plan, false)).toEqual([
    "removed run r1: /runs/r1",
    "removed /runs/r2, which belongs to no run",
    "removed landing worktree /w/_landing-r1",
    "removed slot number of /w/a",
    "removed 2 kept folders of removed worktrees",
    "packed /m (nothing pruned: worktrees use it)",
    "kept run r3: it is not over",
  ]);
  expect(gcLines(plan, true)[0]).toBe("would remove run r1: /runs/r1");
  expect(gcLines({ actions: [], kept: [] }, false)).toEqual(["Nothing to clear away."]);
});
