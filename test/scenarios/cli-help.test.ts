import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { program, sandbox } from "./sandbox.js";

const packageVersion: string = JSON.parse(readFileSync("package.json", "utf8")).version;

test("--version prints the package's version and nothing else", async () => {
  const { ratchet } = sandbox();
  expect(await ratchet("--version")).toEqual({ code: 0, stdout: `${packageVersion}\n`, stderr: "" });
});

test("the program's first file loads nothing but the version before it knows what is asked", () => {
  const text = readFileSync(program, "utf8");
  expect(text.startsWith("#!/usr/bin/env node\n")).toBe(true);
  const imported = [...text.matchAll(/^import\b.*"(.*)";$/gm)].map((match) => match[1]);
  expect(imported.filter((name) => !name?.startsWith("./chunks/version-"))).toEqual([]);
});

/** Names of the commands that a help text lists. */
function commandsIn(help: string): string[] {
  const section = help.split(/^Commands:$/m)[1]?.split(/^\S/m)[0] ?? "";
  return section.split("\n").flatMap((line) => /^ {2}([a-z]+)\b/.exec(line)?.[1] ?? []);
}

test("every command explains itself with an example", async () => {
  const { ratchet, quick } = sandbox();
  const { code, stdout: help, stderr } = await ratchet("work", "add", "--help");
  expect([code, stderr]).toEqual([0, ""]);
  expect(await quick("work", "add", "--help")).toBe(help);
  expect(await ratchet("help", "work", "add")).toEqual({ code: 0, stdout: help, stderr: "" });
  const seen: string[] = [];
  const visit = async (path: string[]): Promise<void> => {
    const stdout = await quick(...path, "--help");
    expect(stdout, path.join(" ")).toMatch(new RegExp(`^Usage: ratchet ${path.join(" ")}`));
    expect(stdout, path.join(" ")).toMatch(/^Examples?:\n {2}\$ ratchet /m);
    seen.push(path.join(" "));
    for (const name of commandsIn(stdout)) await visit([...path, name]);
  };
  await visit([]);
  for (const wanted of ["demo", "run", "work heartbeat", "logs transcript", "findings waive", "worktree restore"]) {
    expect(seen).toContain(wanted);
  }
  expect(seen.length).toBeGreaterThan(35);
});

test.each([
  [[], 40],
  [["run"], 40],
  [["work"], 60],
  [["init"], 200],
])("help of %j keeps within %i columns", async (path, columns) => {
  const { start } = sandbox();
  const { stdout } = await start([...path, "--help"], { env: { COLUMNS: String(columns) } }).ended;
  const lines = stdout.split("\n").filter((line) => !/^( {2}\$|Usage:)/.test(line));
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(stdout.replace(/\s+/g, " ")).toContain("-h, --help what a command does, with an example");
});

test.each([
  [["statsu"], "unknown command 'statsu'", "Did you mean status?"],
  [["run", "--dry-rnu"], "unknown option '--dry-rnu'", "Did you mean --dry-run?"],
  [["work", "ad"], "unknown command 'ad'", "Did you mean add?"],
  [["findings", "waive", "x"], "required option '--reason <text>' not specified", "ratchet findings waive --help"],
  [["work"], "ratchet work needs a command", "ratchet work --help"],
  [["mcp"], "ratchet mcp is not available yet", "ratchet --help"],
  [["status", "too", "many"], "too many arguments", "ratchet status --help"],
  [["bogus"], "unknown command 'bogus'", "ratchet --help"],
  [["retry", "-x", "--afresh"], "unknown option '-x'", "ratchet retry --help"],
  [["work", "nope"], "unknown command 'nope'", "ratchet work --help"],
])("%j is a mistake that is explained", async (args, message, hint) => {
  const { ratchet } = sandbox();
  const { code, stdout, stderr } = await ratchet(...args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`ratchet: ${message}`);
  expect(stderr).toContain(`hint: ${hint}`);
  expect(stderr).not.toContain("    at ");
});

test("with --json a mistake is an object on stdout", async () => {
  const { ratchet } = sandbox();
  const { code, stdout, stderr } = await ratchet("status", "--wach", "--json");
  expect([code, stderr]).toEqual([2, ""]);
  expect(JSON.parse(stdout)).toEqual({
    error: { code: "usage", message: "unknown option '--wach'", hint: "Did you mean --watch?" },
  });
});

test("no arguments at all is a question for help", async () => {
  const { ratchet } = sandbox();
  const { code, stdout } = await ratchet();
  expect(code).toBe(0);
  expect(stdout).toContain("Usage: ratchet");
});
