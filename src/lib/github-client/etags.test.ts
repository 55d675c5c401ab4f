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
