import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readRefusals, wasByFallback } from "./attempt-notes.js";

function folderWith(name: string, text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-notes-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, name), text);
  return folder;
}

test("what the guard refused is read, and lines that somebody else put there are passed over", async () => {
  const lines = [
    '{"tool":"Bash","reason":"git \\"push\\""}',
    '{"reason":"\\q"}',
    "5",
    '{"tool":"x"}',
    '{"reason":"r"}',
  ];
  const told = [];
  for await (const one of readRefusals(folderWith("denied.jsonl", lines.join("\n")))) told.push(one);
  expect(told).toEqual([
    { tool: "Bash", reason: 'git "push"' },
    { tool: "", reason: "r" },
  ]);
});

test.each([
  ['{"effect": {"fallback": true}}', true],
  ['{"effect": {}}', false],
  ["not JSON", false],
])("an attempt with %s was done by the fallback: %s", async (text, expected) => {
  expect(await wasByFallback(folderWith("attempt.json", text))).toBe(expected);
});
