import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { program } from "../scenarios/sandbox.js";

const root = dirname(dirname(program));
let folder = "";

/** A program of one's own, to be spoilt. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratchet-code-"));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true, preserveTimestamps: true });
  cpSync(join(root, "prompts"), join(folder, "prompts"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  return () => rmSync(folder, { recursive: true, force: true });
});

interface Told {
  readonly output: string;
  readonly refused: (boolean | null)[];
}

/** What the command says, and of each file that it loaded whether V8 refused the kept code; null: there was none. */
function start(...args: string[]): Told {
  const home = mkdtempSync(join(folder, "home-"));
  const told = join(home, "told.json");
  const spy = join(home, "spy.cjs");
  const lines = [
    'const scripts = globalThis[Symbol.for("ratchet.compiled")] = new Map();',
    "const told = () => [...scripts.values()].map((one) => one.cachedDataRejected ?? null);",
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(told())));`,
  ];
  writeFileSync(spy, lines.join("\n"));
  const output = execFileSync(process.execPath, ["--require", spy, join(folder, "dist/ratchet.js"), ...args], {
    cwd: home,
    env: { ...process.env, HOME: home, RATCHET_HOME: join(home, "state") },
    encoding: "utf8",
  });
  return { output, refused: JSON.parse(readFileSync(told, "utf8")) };
}

/** The kept files of one set of flags. */
function kept(flags: string): string[] {
  const code = join(folder, "dist/code");
  const names = readdirSync(code).filter((name) => name.endsWith(`-${flags}`));
  return names.flatMap((name) => readdirSync(join(code, name)).map((file) => join(code, name, file)));
}

test("common commands start with the code that the build has kept, those that drive a run too", () => {
  const home = start("--help");
  expect(home.refused).toContain(false);
  expect(home.refused).not.toContain(true);
  const driving = start("run", "--help");
  expect(driving.refused).toContain(false);
  expect(driving.refused).not.toContain(true);
});

test("kept code that cannot be read as such is passed over", () => {
  const files = kept("plain");
  expect(files.length).toBeGreaterThan(0);
  const before = new Map(files.map((file) => [file, readFileSync(file)]));
  onTestFinished(() => {
    for (const [file, bytes] of before) writeFileSync(file, bytes);
  });
  const { output } = start("--help");
  for (const file of files) writeFileSync(file, "not V8's");
  const { output: same, refused } = start("--help");
  expect(same).toBe(output);
  expect(refused).not.toContain(false);
});

test("a file that was changed since is loaded as it is now, whatever was kept of it", () => {
  const file = join(folder, "dist/program.js");
  const text = readFileSync(file, "utf8");
  onTestFinished(() => writeFileSync(file, text));
  // As long as it was: that is all that V8 compares.
  writeFileSync(file, 'exports.runProgram = () => console.log("changed");'.padEnd(text.length));
  const later = Date.now() / 1000 + 60;
  utimesSync(file, later, later);
  expect(start("--help").output).toBe("changed\n");
});
