import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openEtags } from "./etags.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-etags-"));
  folders.push(folder);
  return folder;
};
const one = { etag: 'W/"1"', next: "http://x/2", body: [{ a: 1 }] };

test("what one process remembers another knows, each address for itself", () => {
  const folder = newFolder();
  openEtags(folder).set("http://x/1", one);
  const other = openEtags(folder);
  expect([other.get("http://x/1"), other.get("http://x/2")]).toEqual([one, null]);
});

test("what is broken is not known, and what is old is forgotten", () => {
  const folder = newFolder();
  openEtags(folder).set("http://x/1", one);
  const [file = ""] = readdirSync(folder);
  writeFileSync(join(folder, file), '{"url": "http://x/1", "etag"');
  expect(openEtags(folder).get("http://x/1")).toBeNull();
  utimesSync(join(folder, file), 1000, 1000);
  openEtags(folder);
  expect(readdirSync(folder)).toEqual([]);
});

test("a disk that takes nothing more is told of once, and what was fetched is still known", () => {
  const folder = newFolder();
  const told: string[] = [];
  const etags = openEtags(folder, (text) => told.push(text));
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "in the way");
  etags.set("http://x/1", one);
  etags.set("http://x/2", one);
  expect([etags.get("http://x/1"), etags.get("http://x/3")]).toEqual([one, null]);
  expect(told).toMatchObject([expect.stringContaining("cannot be kept")]);
  const inTheWay = openEtags(join(folder, "below"), (text) => told.push(text));
  inTheWay.set("http://x/1", one);
  expect([inTheWay.get("http://x/1"), told.length]).toEqual([one, 2]);
});

test("memory holds a few hundred answers, and not every one there ever was", () => {
  const folder = newFolder();
  const etags = openEtags(folder);
  for (let number = 0; number < 600; number++) etags.set(`http://x/${number}`, one);
  rmSync(folder, { recursive: true });
  expect([etags.get("http://x/599"), etags.get("http://x/0")]).toEqual([one, null]);
});
