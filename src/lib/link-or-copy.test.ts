import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { linkOrCopy } from "./link-or-copy.js";

function folderIn(place: string): string {
  const folder = mkdtempSync(join(place, "link-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}
const deviceOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.dev;
const elsewhere = ["/dev/shm", "/var/tmp", process.cwd()].find(
  (place) => deviceOf(place) !== undefined && deviceOf(place) !== deviceOf(tmpdir()),
);

it("is a second name where there can be one, and leaves what is there", () => {
  const folder = folderIn(tmpdir());
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  writeFileSync(from, "said");
  linkOrCopy(from, to);
  expect(statSync(to).ino).toBe(statSync(from).ino);
  expect(() => linkOrCopy(from, to)).toThrow("EEXIST");
});

it.skipIf(elsewhere === undefined)("is a whole copy on another disk, with nothing left beside it", () => {
  const folder = folderIn(elsewhere ?? "");
  const from = join(folderIn(tmpdir()), "from");
  writeFileSync(from, "said");
  linkOrCopy(from, join(folder, "to"));
  expect([readFileSync(join(folder, "to"), "utf8"), readdirSync(folder)]).toEqual(["said", ["to"]]);
});
