import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, type Sandbox, sandbox } from "./sandbox.js";

function demo(box: Sandbox, env: NodeJS.ProcessEnv = {}, cwd = box.root) {
  return box.start(["demo", "--dir", join(box.root, "a demo")], { env, cwd }).ended;
}

test("the demo really turns failing tests into landed commits, and says where everything is", async () => {
  const box = sandbox();
  const startedAt = Date.now();
  const { code, stdout, stderr } = await demo(box);
  expect([code, stderr]).toEqual([0, ""]);
  expect(Date.now() - startedAt).toBeLessThan(60_000);
  const repository = join(box.root, "a demo", "shop");
  expect(stdout).toContain("node --test before: 3 pass, 3 fail");
  expect(stdout).toContain("node --test afterwards: 6 pass, 0 fail");
  expect(stdout).toContain("cart-total: gate failed, attempt 1");
  expect(stdout).toContain("discount-codes: review by security ended, round 1: fail, 1 finding");
  expect(stdout).toContain("discount-codes: review by docs ended, round 1: fail, 1 finding");
  expect(stdout).toContain("3 of 3 issues succeeded");
  expect(stdout).toContain("3 findings raised, 3 resolved, 0 open");
  expect(stdout).toContain(`The commits are on main in ${repository}`);
  const log = execFileSync("git", ["log", "--oneline", "--no-decorate"], { cwd: repository, encoding: "utf8" });
  for (const line of log.trimEnd().split("\n")) expect(stdout).toContain(line);
  expect(execFileSync("git", ["status", "--porcelain"], { cwd: repository, encoding: "utf8" })).toBe("");
  expect(existsSync(box.home)).toBe(false);
  // Its lines can be copied, although there is a blank in the path; what comes after them has its own state home.
  const copied = stdout.split("\n").filter((line) => /^ {2}(cd |.* logs show last$)/.test(line));
  const { RATCHET_HOME: _, ...env } = box.env;
  const script = [...copied, "echo home: $RATCHET_HOME"].join("\n");
  const shown = execFileSync("sh", ["-c", script], { cwd: box.root, env, encoding: "utf8" });
  expect(copied).toHaveLength(2);
  expect(shown).toMatch(/discount-codes.*\nhome:\n$/s);
});

test("a later demo removes one that ended a day ago, and none that has anything of a person's", async () => {
  const box = sandbox();
  const TMPDIR = join(box.root, "tmp");
  mkdirSync(TMPDIR);
  expect((await box.start(["demo"], { env: { TMPDIR } }).ended).code).toBe(0);
  const root = join(TMPDIR, readdirSync(TMPDIR)[0] ?? "");
  const [home, kept] = [join(root, "home"), join(box.root, "kept")];
  utimesSync(join(root, ".ratchet-demo"), 0, 0);
  cpSync(home, kept, { recursive: true });
  // Its folder is taken, but before it looks it has tidied.
  const tidy = () => box.start(["demo", "--dir", box.dir], { env: { TMPDIR } }).ended;
  const there = (cwd: string, ...args: string[]) => box.start(args, { cwd, env: { RATCHET_HOME: home } }).ended;
  const doubts: Readonly<Record<string, () => unknown>> = {
    "another project": () => there(box.dir, "work", "add", "Mine"),
    "a project that was removed": async () => {
      await there(box.dir, "work", "add", "Mine");
      expect((await there(box.dir, "project", "remove", "shop-2", "--force")).code).toBe(0);
    },
    "a run of a person's": () => there(join(root, "shop"), "do", "Mine"),
    "a database that cannot be read": () => writeFileSync(join(home, "ratchet.db"), "no database"),
    "no home": () => rmSync(home, { recursive: true }),
    "a file of a person's": () => writeFileSync(join(root, "notes.txt"), "precious"),
  };
  for (const [name, make] of Object.entries(doubts)) {
    await make();
    await tidy();
    expect(existsSync(join(root, "shop")), name).toBe(true);
    rmSync(join(root, "notes.txt"), { force: true });
    rmSync(home, { recursive: true, force: true });
    cpSync(kept, home, { recursive: true });
  }
  await tidy();
  expect(existsSync(root)).toBe(false);
});

test("the demo needs no identity, no HOME and no --dir, and does not mind the repository or settings around it", async () => {
  const box = sandbox();
  box.write("tmp/x", "");
  const env = {
    HOME: "/proc/nothing-can-be-written-here",
    TMPDIR: join(box.dir, "tmp"),
    GIT_DIR: join(box.dir, ".git"),
    RATCHET_MAX_AGENTS: "no number",
    NODE_TEST_CONTEXT: "child-v8",
  };
  const { code, stdout, stderr } = await box.start(["demo"], { env, cwd: box.dir }).ended;
  expect([code, stderr]).toEqual([0, ""]);
  expect(box.git("log", "--oneline").split("\n")).toHaveLength(1);
  const [made = ""] = readdirSync(join(box.dir, "tmp")).filter((name) => name.startsWith("ratchet-demo-"));
  expect(stdout).toContain(join(box.dir, "tmp", made, "shop"));
});

test("the demo's lines name the program by its path where the shell has another or none by its name", () => {
  const box = sandbox();
  const bin = join(box.root, "node_modules", ".bin");
  mkdirSync(bin, { recursive: true });
  const own = join(bin, "ratchet");
  symlinkSync(program, own);
  // As npm makes it where it is installed.
  chmodSync(program, 0o755);
  const { npm_execpath: _, ...env } = box.env;
  const lineOf = (name: string, path: string) => {
    const args = [own, "demo", "--dir", join(box.root, name)];
    const told = execFileSync(process.execPath, args, { env: { ...env, PATH: path }, encoding: "utf8" });
    return /^ {2}(.*) logs show last$/m.exec(told)?.[1];
  };
  const others = (env.PATH ?? "").split(":").filter((folder) => !existsSync(join(folder, "ratchet")));
  expect(lineOf("without", others.join(":"))).toBe(`RATCHET_HOME=../home node ${own}`);
  expect(lineOf("with", [bin, ...others].join(":"))).toBe("RATCHET_HOME=../home ratchet");
});

test("the demo refuses a folder that is not empty", async () => {
  const box = sandbox();
  box.put("a demo/mine.txt", "precious");
  const { code, stderr } = await demo(box);
  expect([code, stderr]).toEqual([2, expect.stringContaining("is not empty")]);
});

const hasScript = spawnSync("script", ["--version"]).status === 0;

test.skipIf(!hasScript)("in a terminal the demo shows the live table, then the summary", () => {
  const box = sandbox();
  const command = `stty cols 100 rows 30; ${process.execPath} ${program} demo --dir ${join(box.root, "demo")}`;
  const env = { ...box.env, TERM: "xterm" };
  const { stdout, status } = spawnSync("script", ["--quiet", "--return", "--command", command, "/dev/null"], {
    cwd: box.root,
    env,
    encoding: "utf8",
  });
  expect(status).toBe(0);
  expect(stdout).toContain("ISSUE");
  expect(stdout).toContain("implementing");
  // A row that the terminal draws wider than is known here is cut, not wrapped; everything after it is as before.
  const rows = stdout.split("\n").filter((line) => line.includes("implementing"));
  const [off, on] = ["\u001b[?7l", "\u001b[?7h"];
  expect(rows.filter((row) => !row.includes(off) || row.lastIndexOf(on) < row.indexOf("implementing"))).toEqual([]);
  expect(stdout.lastIndexOf(on)).toBeGreaterThan(stdout.lastIndexOf(off));
  expect(stdout).not.toContain("prompt implementer sent");
  expect(stdout.match(/3 findings raised, 3 resolved, 0 open/g)).toHaveLength(1);
});
