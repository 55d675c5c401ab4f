import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withLock } from "./lock.js";

test("what a killed owner wrote aside goes with the next lock, what a living one wrote stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const dead = spawnSync("true").pid;
  for (const name of [`a.${dead}.0`, `a.breaking.${dead}.3`, `a.${process.ppid}.1`, `ab.${dead}.0`]) {
    writeFileSync(join(folder, name), "");
  }
  const during = await withLock(join(folder, "a"), async () => readdirSync(folder).sort());
  expect(during).toEqual(["a", `a.${process.ppid}.1`, `ab.${dead}.0`]);
  expect(readdirSync(folder)).not.toContain("a");
});

test.each(["", '{"pid":1', "\0\0\0"])("a lock that a power cut has left with %j in it is nobody's", async (text) => {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-lock-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "a"), text);
  expect(await withLock(join(folder, "a"), async () => "done")).toBe("done");
});
