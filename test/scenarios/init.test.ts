import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { type Sandbox, sandbox } from "./sandbox.js";

function nodeProject(scripts: Record<string, string> = { test: "true", lint: "true" }): Sandbox {
  const box = sandbox();
  box.write("package.json", JSON.stringify({ scripts }));
  box.write("package-lock.json", "{}");
  return box;
}
const configs = ({ dir }: Sandbox) => readdirSync(dir).filter((name) => name.startsWith("ratchet.yaml"));

test("B9 --yes takes what is there, never adds a review, and the file passes config check", async () => {
  const box = nodeProject();
  const { code, stdout } = await box.ratchet("init", "--yes");
  expect([code, stdout]).toEqual([0, expect.stringContaining("wrote ratchet.yaml")]);
  const config = parse(box.read("ratchet.yaml"));
  expect(config).toMatchObject({
    preset: "node-npm",
    commands: { format: null, typecheck: null },
    evidence_check: { required: ["test", "lint"] },
  });
  expect(config).not.toHaveProperty("per_issue_review");
  expect(config).not.toHaveProperty("validation_triggers");
  expect(await box.ratchet("config", "check")).toMatchObject({ code: 0, stdout: "ratchet.yaml is fine\n" });
});

test("init writes no setup for a lock file that git ignores, and says why", async () => {
  const box = nodeProject();
  await box.ratchet("init", "--yes");
  expect(parse(box.read("ratchet.yaml")).commands).not.toHaveProperty("setup");
  box.write(".gitignore", "package-lock.json\n");
  await box.ratchet("init", "--yes");
  expect(box.read("ratchet.yaml")).toContain("setup: null # package-lock.json is ignored by git, so in no worktree\n");
});

test("a package.json that is no JSON is told as that, not as one without scripts", async () => {
  const box = nodeProject();
  box.write("package.json", '{"scripts": {"test": "true",}}');
  const { code, stderr } = await box.ratchet("init", "--yes");
  expect([code, stderr]).toEqual([0, expect.stringContaining("note: package.json is not valid JSON: ")]);
  expect(box.read("ratchet.yaml")).toContain("test: null # package.json is not valid JSON\n");
});

test.each(["node-npm", "python-uv", "go", "rust", "none"])(
  "B9 --yes --preset %s passes config check",
  async (preset) => {
    const box = sandbox();
    expect((await box.ratchet("init", "--yes", "--preset", preset)).code).toBe(0);
    expect(box.read("ratchet.yaml")).not.toContain("per_issue_review");
    expect((await box.ratchet("config", "check")).code).toBe(0);
  },
);

test("without a terminal it says which flags to give, and writes nothing", async () => {
  const box = nodeProject();
  const { code, stdout, stderr } = await box.ratchet("init");
  expect([code, stdout]).toEqual([2, ""]);
  for (const flag of ["--preset", "--agent-command", "--yes"]) expect(stderr).toContain(flag);
  expect(stderr).toContain("preset node-npm");
  const half = await box.ratchet("init", "--preset", "node-npm", "--json");
  expect(half.code).toBe(2);
  expect(JSON.parse(half.stdout)).toMatchObject({
    error: { code: "no-terminal", message: "--json is given, so nothing can be asked" },
  });
  expect(configs(box)).toEqual([]);
});

test("with flags for everything it needs no terminal, and the configuration runs", async () => {
  const box = nodeProject({});
  const agent = box.script("agent", 'echo x > made.txt && git add -A && git commit -q -m "Made it"\n').join(" ");
  const review = box.script("review", 'cat > /dev/null; echo \'{"verdict": "pass", "findings": []}\'\n').join(" ");
  const flags = ["--preset", "none", "--agent-command", agent, "--command", "test=test -e made.txt"];
  flags.push("--review-member", `one=command:${review}`, "--review-member", `two=command:${review}`);
  flags.push("--max-retries", "2", "--finding-threshold", "P1");
  flags.push("--trigger", "run_end=test", "--trigger-option", "run_end.fire_on=both");
  const { code, stdout } = await box.ratchet("init", ...flags, "--json");
  expect([code, JSON.parse(stdout)]).toEqual([0, { file: join(box.dir, "ratchet.yaml"), backup: null, written: true }]);
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await box.record()).toMatchObject({
    run_end: { status: "pass" },
    config: { per_issue_review: { panel: [{ name: "one" }, { name: "two" }] } },
  });
  expect(await box.issue("one")).toMatchObject({
    status: "success",
    review_attempts: 1,
    evidence_check: { evidence: { test: true } },
  });
});

test("what is there is kept under a new name each time", async () => {
  const box = nodeProject();
  box.write("ratchet.yaml", "# the first\n");
  const paths: unknown[] = [];
  for (const agent of ["one", "two", "three"]) {
    paths.push(JSON.parse((await box.ratchet("init", "--yes", "--agent-command", agent, "--json")).stdout).backup);
  }
  const backup = join(box.dir, "ratchet.yaml.bak");
  expect(paths).toEqual([backup, `${backup}-2`, `${backup}-3`]);
  expect(box.read("ratchet.yaml.bak")).toBe("# the first\n");
  expect(box.read("ratchet.yaml.bak-3")).toContain("command: [two]");
  expect(box.read("ratchet.yaml")).toContain("command: [three]");
});

test("what only its owner could read stays so, and its backup too", async () => {
  const box = nodeProject();
  box.write("ratchet.yaml", "# mine\n");
  chmodSync(join(box.dir, "ratchet.yaml"), 0o600);
  expect((await box.ratchet("init", "--yes")).code).toBe(0);
  const modes = ["ratchet.yaml", "ratchet.yaml.bak"].map((name) => lstatSync(join(box.dir, name)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
});

test("a linked file is changed where it is", async () => {
  const box = nodeProject();
  const real = box.put("elsewhere/ratchet.yaml", "# linked\n");
  symlinkSync(real, join(box.dir, "ratchet.yaml"));
  expect((await box.ratchet("init", "--yes")).code).toBe(0);
  expect(box.read("../elsewhere/ratchet.yaml")).toContain("preset: node-npm");
  expect(box.read("ratchet.yaml.bak")).toBe("# linked\n");
});

test("a link to a file that is not there yet stays a link; to a folder that is not there nothing is written", async () => {
  const box = nodeProject();
  box.put("elsewhere/.keep", "");
  symlinkSync("../elsewhere/link.yaml", join(box.dir, "ratchet.yaml"));
  symlinkSync("ratchet.yaml", join(box.dir, "../elsewhere/link.yaml"));
  expect((await box.ratchet("init", "--yes")).code).toBe(0);
  expect(lstatSync(join(box.dir, "ratchet.yaml")).isSymbolicLink()).toBe(true);
  expect(box.read("../elsewhere/ratchet.yaml")).toContain("preset: node-npm");
  const other = nodeProject();
  symlinkSync("nowhere/ratchet.yaml", join(other.dir, "ratchet.yaml"));
  const { code, stderr } = await other.ratchet("init", "--yes");
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("ratchet.yaml is a link into a folder that is not there"),
  ]);
  expect(lstatSync(join(other.dir, "ratchet.yaml")).isSymbolicLink()).toBe(true);
});

test.each([
  [
    ["--required", "tset"],
    /^ratchet: --required: .* found "tset" .*\n {2}hint: did you mean test.*\n {2}nothing was written/,
  ],
  [
    ["--trigger", "session_end=nope"],
    /^ratchet: --trigger: .* found "nope".*session_end.*\n {2}hint: nothing was written/,
  ],
  [["--command", "bad name=x"], /^ratchet: --command: .* found "bad name"/],
  [["--preset", "java"], /--preset java is not one of/],
  [["--agent", "command"], /--agent-command/],
  [["--review-member", "Bad=cerberus"], /^ratchet: --review-member: .*panel\[0\]\.name/],
  [["--trigger", "run_end=test", "--trigger-option", "run_end.code_review=true"], /needs a reviewer/],
])("%j does not hold: nothing is written, what was there stays", async (flags, message) => {
  const box = nodeProject();
  box.write("ratchet.yaml", "# mine\n");
  const { code, stdout, stderr } = await box.ratchet("init", "--yes", ...flags);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(message);
  expect(configs(box)).toEqual(["ratchet.yaml"]);
  expect(box.read("ratchet.yaml")).toBe("# mine\n");
});

test("an agent on PATH is used, and another vendor's reviews", async () => {
  const box = nodeProject();
  for (const name of ["codex", "pi"]) {
    box.put(`bin/${name}`, "#!/bin/sh\n");
    chmodSync(join(box.root, "bin", name), 0o755);
  }
  const env = { PATH: `${join(box.root, "bin")}:/usr/bin:/bin` };
  const { code, stderr } = await box.start(["init", "--yes", "--review", "agent_sdk"], { env }).ended;
  expect([code, stderr]).toEqual([0, ""]);
  expect(parse(box.read("ratchet.yaml"))).toMatchObject({
    agent: { type: "codex" },
    per_issue_review: { agent_sdk_agent: { type: "pi" } },
  });
  expect((await box.ratchet("config", "check")).code).toBe(0);
});

test("an agent that is named and not on PATH is told", async () => {
  const box = nodeProject();
  const { code, stderr } = await box.start(["init", "--yes", "--agent", "opencode"], { env: { PATH: box.dir } }).ended;
  expect([code, stderr]).toEqual([0, "note: opencode is not on PATH: install it before the first run\n"]);
});

test("it writes at the top of the repository, and where there is none in the current folder", async () => {
  const box = nodeProject();
  mkdirSync(join(box.dir, "deep/down"), { recursive: true });
  const deep = await box.start(["init", "--yes"], { cwd: join(box.dir, "deep/down") }).ended;
  expect([deep.code, deep.stdout]).toEqual([0, expect.stringMatching(/^wrote \.\.\/\.\.\/ratchet\.yaml$/m)]);
  expect(box.read("ratchet.yaml")).toContain("preset: node-npm");
  mkdirSync(join(box.root, "plain"));
  const plain = await box.start(["init", "--yes"], { cwd: join(box.root, "plain") }).ended;
  expect(plain.code).toBe(0);
  expect(plain.stderr).toContain("is not in a git repository: run git init");
  expect(existsSync(join(box.root, "plain", "ratchet.yaml"))).toBe(true);
});

test("inside of .git nothing is written, as a run does nothing there", async () => {
  const box = nodeProject();
  box.write("ratchet.yaml", "# mine\n");
  for (const folder of [".git", ".git/refs/heads"]) {
    const cwd = join(box.dir, folder);
    const told = {
      code: 2,
      stderr: `ratchet: ${cwd} is inside a .git folder\n  hint: Change to the checkout itself.\n`,
    };
    expect(await box.start(["init", "--yes"], { cwd }).ended).toMatchObject(told);
    expect(await box.start(["run"], { cwd }).ended).toMatchObject(told);
  }
  expect([configs(box), box.read("ratchet.yaml")]).toEqual([["ratchet.yaml"], "# mine\n"]);
});

test("settings in the environment do not decide whether the file holds", async () => {
  const box = nodeProject();
  const { code } = await box.start(["init", "--yes"], { env: { RATCHET_MAX_AGENTS: "none" } }).ended;
  expect(code).toBe(0);
});
