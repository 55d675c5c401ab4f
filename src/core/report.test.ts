import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

/** The members of the union as rows of a table: its type, then its fields; `?`: it may be left out. */
function rowsInCode(): string[] {
  const text = readFileSync("src/core/report.ts", "utf8");
  const [, union = ""] = /export type ReportBody =\n(.*?);\n\n/s.exec(text) ?? [];
  const members = union.split(/^ {2}\| \{/m).slice(1);
  return members.map((member) => {
    const own = member.replace(/\/\*\*.*?\*\//gs, "").replace(/\{[^{}]*\}/g, "");
    const [type, ...fields] = [...own.matchAll(/readonly (\w+\??):(?: "([\w-]+)")?/g)];
    return `| \`${type?.[2]}\` | ${fields.map(([, name]) => `\`${name}\``).join(", ")} |`;
  });
}

test("docs/command-line.md has every public event, with its fields", () => {
  const docs = readFileSync("docs/command-line.md", "utf8");
  const [, events = ""] = /^## Events\n(.*?)^## /ms.exec(docs) ?? [];
  const rows = events.split("\n").filter((line) => line.startsWith("| `"));
  expect(rows).toEqual(rowsInCode());
  expect(rows.length).toBeGreaterThan(30);
});
