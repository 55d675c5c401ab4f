import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPlaces } from "./places.js";
import { isAnybodyIn, processesIn } from "./table.js";

const hasLsof = spawnSync("lsof", ["-v"]).error === undefined;

function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-places-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function standIn(folder: string): Promise<ChildProcess> {
  const child = spawn("sleep", ["600"], { cwd: folder, stdio: "ignore" });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child, "spawn");
  return child;
}

test("who works in a folder, or below it, is found", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, "below"));
  expect([processesIn(folder), isAnybodyIn(folder)]).toEqual([[], false]);
  const { pid } = await standIn(join(folder, "below"));
  await expect.poll(() => processesIn(folder), { timeout: 10_000 }).toEqual([pid]);
  expect(isAnybodyIn(folder)).toBe(true);
  expect(processesIn(join(folder, "bel"))).toEqual([]);
});

test.skipIf(!hasLsof)("lsof tells where processes stand, however odd the folder's name", async () => {
  const folder = makeFolder();
  const odd = join(folder, "Jürgen\nA \\x41 {b}");
  mkdirSync(odd);
  const { pid = 0 } = await standIn(odd);
  await expect.poll(() => readPlaces()?.get(pid), { timeout: 10_000 }).toBe(odd);
});

test("an lsof that is missing, fails or sees nobody tells nothing", () => {
  const folder = makeFolder();
  const lsof = join(folder, "lsof");
  for (const text of ["exit 1", "echo p1; echo n/", "exit 127"]) {
    writeFileSync(lsof, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    expect(readPlaces({ PATH: `${folder}:/bin` })).toBeNull();
  }
});
