import { execFileSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { program } from "../scenarios/sandbox.js";

const root = dirname(dirname(program));
let folder = "";

/** A program of one's own, to be spoilt. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ratchet-code-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(join(root, "dist"), join(folder, "dist"), { recursive: true, preserveTimestamps: true });
  cpSync(join(root, "prompts"), join(folder, "prompts"), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});

interface Told {
  readonly output: string;
  readonly refused: (boolean | null)[];
}

/** What the command says, and of each file that it loaded whether V8 refused the kept code; null: it was given none. */
function start(...args: string[]): Told {
  const home = mkdtempSync(join(folder, "home-"));
  const told = join(home, "told.json");
  const spy = join(home, "spy.cjs");
  const lines = [
    'const compiled = globalThis[Symbol.for("ratchet.compiled")] = new Map();',
    "const told = () => [...compiled.values()].map(({ script }) => script.cachedDataRejected ?? null);",
    `process.on("exit", () => require("node:fs").writeFileSync(${JSON.stringify(told)}, JSON.stringify(told())));`,
  ];
  writeFileSync(spy, lines.join("\n"));
  const output = execFileSync(process.execPath, ["--require", spy, join(folder, "dist/ratchet.js"), ...args], {
    cwd: home,
    env: { ...process.env, HOME: home, RATCHET_HOME: join(home, "state") },
    encoding: "utf8",
    timeout: 60_000,
  });
  return { output, refused: JSON.parse(readFileSync(told, "utf8")) };
}

/** Every file of kept code. */
function kept(): string[] {
  const code = join(folder, "dist/code");
  const names = readdirSync(code, { recursive: true, encoding: "utf8" });
  return names.map((name) => join(code, name)).filter((path) => statSync(path).isFile());
}

test("common commands start with the code that the build has kept, those that drive a run too", () => {
  for (const args of [["--help"], ["run", "--help"]]) {
    const { refused } = start(...args);
    expect(refused).toContain(false);
    expect(refused).not.toContain(true);
  }
});

test("what was kept is nowhere said to be of the folder where it was built", () => {
  expect(kept().length).toBeGreaterThan(100);
  expect(kept().filter((path) => readFileSync(path).includes(root))).toEqual([]);
});

describe("what is not the code of its file is passed over, and the program says the same", () => {
  const bytesOf = (path: string) => readFileSync(path);
  test.each<[string, (path: string) => void]>([
    ["a few bytes in its middle changed", (path) => writeFileSync(path, damaged(bytesOf(path)))],
    ["its second half zeroed", (path) => writeFileSync(path, bytesOf(path).fill(0, bytesOf(path).length / 2))],
    ["cut short", (path) => writeFileSync(path, bytesOf(path).subarray(0, 100))],
    ["empty", (path) => writeFileSync(path, "")],
    ["a folder", (path) => replace(path, () => mkdirSync(path))],
    ["a link to itself", (path) => replace(path, () => symlinkSync(path, path))],
    ["a pipe", (path) => replace(path, () => execFileSync("mkfifo", [path]))],
  ])("%s", (_, spoil) => {
    const { output } = start("--help");
    for (const path of kept()) spoil(path);
    const { output: same, refused } = start("--help");
    expect(same).toBe(output);
    expect(refused).not.toContain(false);
  });

  test("a file in the place of its folder", () => {
    replace(join(folder, "dist/code"), (path) => writeFileSync(path, ""));
    expect(start("--help").output).toContain("ratchet run");
  });
});

function damaged(bytes: Buffer): Buffer {
  for (let at = Math.floor(bytes.length / 2); at < bytes.length; at += 1000) bytes[at] = (bytes[at] ?? 0) ^ 0x55;
  return bytes;
}

function replace(path: string, make: (path: string) => void): void {
  rmSync(path, { recursive: true });
  make(path);
}

test("a file that was changed since is loaded as it is now, whatever its length and time", () => {
  const file = join(folder, "dist/program.js");
  const { length } = readFileSync(file, "utf8");
  const { mtime } = statSync(file);
  writeFileSync(file, 'exports.runProgram = () => console.log("changed");'.padEnd(length));
  utimesSync(file, mtime, mtime);
  expect(start("--help").output).toBe("changed\n");
});
