import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { giveBackSlotNumber, slotNumber } from "../../src/run/perform/slot-number.js";

function home(): string {
  const root = mkdtempSync(join(tmpdir(), "ratchet-slots-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

test("a worktree keeps its number, the smallest that is free, until it gives it back", () => {
  const root = home();
  expect(["/w/a", "/w/b", "/w/a", "/w/b"].map((worktree) => slotNumber(root, worktree))).toEqual([0, 1, 0, 1]);
  giveBackSlotNumber(root, "/w/a");
  giveBackSlotNumber(root, "/w/a");
  expect(["/w/c", "/w/b", "/w/a"].map((worktree) => slotNumber(root, worktree))).toEqual([0, 1, 2]);
});

test("a number that somebody else took away and gave to another worktree is not used again", () => {
  const root = home();
  expect([slotNumber(root, "/w/a"), slotNumber(root, "/w/b")]).toEqual([0, 1]);
  rmSync(join(root, "slots/0"));
  expect([slotNumber(root, "/w/c"), slotNumber(root, "/w/a")]).toEqual([0, 2]);
  for (const worktree of ["/w/a", "/w/b", "/w/c"]) giveBackSlotNumber(root, worktree);
  expect(readdirSync(join(root, "slots"))).toEqual([]);
});
