import fc from "fast-check";
import { expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { checkConfigText } from "./check.js";
import { formatDiagnostic } from "./diagnostic.js";
import { settingsReference } from "./reference.js";

const context = { dir: "/project", env: {}, flags: {}, machine: { cores: 4, freeMemoryBytes: 8e9 } };

/** Whatever comes in: an answer, soon, with a place and words for everything that is wrong. */
function holds(text: string, env: Record<string, string> = {}): void {
  const spentMs = cpuTimer();
  const checked = checkConfigText(text, "ratchet.yaml", { ...context, env });
  if (!checked.ok) {
    expect(checked.diagnostics.some(({ severity }) => severity === "error")).toBe(true);
    for (const one of checked.diagnostics) expect(formatDiagnostic(one)).not.toMatch(/undefined|\[object/);
  }
  expect(spentMs()).toBeLessThan(10_000);
}

const known = [
  ...new Set(
    settingsReference().flatMap(({ section, rows }) => [section.split(".")[0] ?? "", ...rows.map(({ key }) => key)]),
  ),
];
const pieces = [
  ...known.map((key) => `${key}: `),
  ...[
    "\n",
    "\n  ",
    "\n    ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    ", ",
    ": ",
    "? ",
    "&a ",
    "*a",
    "<<: ",
    "!t ",
    "#",
    "|\n",
    ">-\n",
  ],
  ...[
    "---\n",
    "...\n",
    "%YAML 1.1\n",
    "\t",
    "\r\n",
    '"',
    "'",
    "\0",
    "\uFEFF",
    "null",
    "true",
    "1.5",
    "-1",
    "P4",
    "\\",
    "@",
    "`",
  ],
];
const yamlish = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 200 }),
);

test("any text is answered, soon and without an exception", () => {
  fc.assert(
    fc.property(yamlish, (text) => holds(text)),
    { numRuns: 1500 },
  );
});

test("any JSON value as the configuration, or as a known section of it, is answered", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(...known), (value, key) => {
      holds(JSON.stringify(value));
      holds(JSON.stringify({ [key]: value }));
    }),
    { numRuns: 500 },
  );
});

test("any environment is answered", () => {
  const name = fc.constantFrom(...known).map((key) => `RATCHET_${key.toUpperCase()}`);
  const nested = fc.tuple(name, fc.constantFrom(...known)).map(([first, key]) => `${first}__${key.toUpperCase()}`);
  fc.assert(
    fc.property(fc.dictionary(fc.oneof(name, nested), yamlish), (env) => holds("max_agents: 2", env)),
    { numRuns: 500 },
  );
});
