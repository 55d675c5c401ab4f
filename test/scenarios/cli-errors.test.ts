import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Ended, program, type Sandbox, sandbox } from "./sandbox.js";

const working = { agent: { type: "command", command: ["true"] } };

/** One sentence and a hint, no stack. */
function expectSentence({ code, stdout, stderr }: Ended, wanted: { code: number; says: RegExp; hint: RegExp }): void {
  expect({ code, stdout }).toEqual({ code: wanted.code, stdout: "" });
  const [first = "", second = ""] = stderr.trimEnd().split("\n");
  expect(first).toMatch(/^ratchet: /);
  expect(first).toMatch(wanted.says);
  expect(second).toMatch(wanted.hint);
  expect(stderr).not.toContain("    at ");
}

test("outside of a git repository every command that needs one says so", async () => {
  const { start, root } = sandbox();
  const bare = join(root, "nothing");
  mkdirSync(bare);
  for (const args of [["run"], ["work", "add", "x"], ["findings"], ["do", "x"]]) {
    const ended = await start(args, { cwd: bare }).ended;
    expectSentence(ended, { code: 2, says: /is not in a git repository/, hint: /hint: .*git init/ });
  }
});

test("a repository without a commit is refused with exit 2", async () => {
  const { start, root, env } = sandbox();
  const empty = join(root, "empty");
  mkdirSync(empty);
  execFileSync("git", ["init", "--quiet"], { cwd: empty, env });
  writeFileSync(join(empty, "ratchet.yaml"), JSON.stringify(working));
  const ended = await start(["run"], { cwd: empty }).ended;
  expectSentence(ended, { code: 2, says: /has no commit yet/, hint: /hint: commit something first/ });
  const bare = join(root, "empty.git");
  execFileSync("git", ["init", "--quiet", "--bare", bare], { env });
  const there = await start(["work", "list"], { cwd: bare }).ended;
  expectSentence(there, { code: 2, says: /has no commit yet/, hint: /hint: push a commit to it first/ });
});

test("without a configuration file the hint says how to get one", async () => {
  const { ratchet } = sandbox();
  const { code, stdout, stderr } = await ratchet("run");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/ratchet\.yaml: no such file/);
  expect(stderr).toContain("ratchet init");
  const { error } = JSON.parse((await ratchet("run", "--json")).stdout);
  expect(error.message).not.toContain("hint");
  expect(error.hint).toContain("ratchet init");
});

test("D1 with a ratchet.yaml that is wrong or gone a killed run is named and left as it is; it goes on once that is put right", async () => {
  const box = sandbox();
  const command = box.script(
    "agent.sh",
    'cat >/dev/null; while [ -e "$HOME/wait" ]; do sleep 0.05; done; echo done >one.txt; git add --all; git commit --quiet --message "Work"',
  );
  box.configure({ agent: { type: "command", command } });
  box.put("wait", "");
  await box.add("one");
  const run = box.start(["run", "--json"]);
  run.onLine((line) => {
    if (line.includes('"prompt-sent"')) run.kill("SIGKILL");
  });
  await run.ended;
  const { run_id } = await box.record();
  const file = join(box.dir, "ratchet.yaml");
  for (const wrong of [() => box.configure({ agent: { type: "bogus" } }), () => rmSync(file)]) {
    wrong();
    const { code, stdout, stderr } = await box.ratchet("run");
    expect([code, stdout]).toEqual([2, ""]);
    const [first, second] = stderr.split("\n");
    expect(first).toBe(`run ${run_id} is unfinished: it goes on, with its own settings, once ratchet run can start`);
    expect(second).toMatch(/^ratchet\.yaml:/);
  }
  expect((await box.issue("one", run_id)).status).toBe("running");
  rmSync(join(box.root, "wait"));
  box.configure({ agent: { type: "command", command: ["true"] } });
  const again = await box.ratchet("run");
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining(`Continuing run ${run_id}`)]);
  expect(box.read("one.txt")).toBe("done\n");
});

test("broken YAML is told with its place, and nothing is started", async () => {
  const { ratchet, write, home } = sandbox();
  write("ratchet.yaml", "agent: {type: command, command: [true]\ncommands:\n  test: x\n");
  const { code, stdout, stderr } = await ratchet("run");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^ratchet\.yaml:\d+:\d+: /);
  expect(existsSync(join(home, "runs"))).toBe(false);
});

test("C14 a retired key is told with its migration on stderr and in ratchet.log, without a stack", async () => {
  const { ratchet, configure, home } = sandbox();
  configure({ ...working, global_validation_commands: ["test"] });
  const { code, stderr } = await ratchet("run");
  const sentence = "global_validation_commands is deprecated. Migrate to validation_triggers.run_end:";
  expect(code).toBe(2);
  expect(stderr).toContain(sentence);
  expect(stderr).not.toContain("    at ");
  expect(readFileSync(join(home, "ratchet.log"), "utf8")).toContain(sentence);
  expect(existsSync(join(home, "runs"))).toBe(false);
});

test("all mistakes of the configuration are told at once", async () => {
  const { ratchet, configure } = sandbox();
  configure({ ...working, max_agents: -1, per_issue_revew: { enabled: true } });
  const { code, stderr } = await ratchet("run");
  expect(code).toBe(2);
  expect(stderr).toContain("max_agents");
  expect(stderr).toContain("did you mean per_issue_review");
  const { error } = JSON.parse((await ratchet("run", "--json")).stdout);
  expect(error).toMatchObject({ code: "config", hint: "per_issue_revew: did you mean per_issue_review?" });
  expect(error.message).toMatch(
    /max_agents: expected .*\nratchet\.yaml:\d+:\d+: per_issue_revew: unknown key; allowed/,
  );
  expect(error.message).not.toContain("did you mean");
});

test("a missing agent program is found before anything starts", async () => {
  const { ratchet, configure, add } = sandbox();
  configure({ agent: { type: "command", command: ["no-such-agent-anywhere"] } });
  await add("one");
  expectSentence(await ratchet("run"), {
    code: 2,
    says: /no-such-agent-anywhere was not found/,
    hint: /hint: install/,
  });
});

test.each(["run", "work list", "status", "logs list"])(
  "a state home that cannot be used: %s says so",
  async (command) => {
    const { start, configure, put } = sandbox();
    configure(working);
    const file = put("in-the-way", "");
    const ended = await start(command.split(" "), { env: { RATCHET_HOME: join(file, "home") } }).ended;
    const code = command === "run" ? 3 : 1;
    expectSentence(ended, { code, says: /state home .* cannot be used/, hint: /hint: .*RATCHET_HOME/ });
  },
);

async function setFormat({ home }: Sandbox, version: number): Promise<void> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const database = new DatabaseSync(join(home, "ratchet.db"));
  database.exec(`PRAGMA user_version = ${version}`);
  database.close();
}

test.each(["run", "status", "work list"])(
  "a database from the future is refused and left alone: %s",
  async (command) => {
    const box = sandbox();
    box.configure(working);
    // By a process of its own: its end brings everything into the file that is compared.
    await box.ratchet("work", "add", "one");
    await setFormat(box, 9999);
    const before = readFileSync(join(box.home, "ratchet.db"));
    const ended = await box.ratchet(...command.split(" "));
    expectSentence(ended, { code: 2, says: /newer Ratchet/, hint: /hint: update Ratchet/ });
    expect(readFileSync(join(box.home, "ratchet.db")).equals(before)).toBe(true);
  },
);

test("what is no database is told as such", async () => {
  const { ratchet, configure, home } = sandbox();
  configure(working);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "ratchet.db"), "this is a letter, not a database\n".repeat(100));
  expectSentence(await ratchet("run"), { code: 2, says: /not a Ratchet database/, hint: /hint: move it away/ });
});

test("a state home whose path is too long for the database is told as that", async () => {
  const { start, configure, root } = sandbox();
  configure(working);
  const env = { RATCHET_HOME: join(root, ...Array.from({ length: 6 }, () => "a".repeat(99))) };
  const told = { code: 1, says: /the path of the database is too long: 6\d\d bytes/, hint: /a shorter one/ };
  expectSentence(await start(["work", "list"], { env }).ended, told);
});

test("a detached checkout needs finalize.into", async () => {
  const { ratchet, configure, git } = sandbox();
  configure(working);
  git("checkout", "--quiet", "--detach");
  expectSentence(await ratchet("run"), { code: 2, says: /detached/, hint: /finalize\.into/ });
  configure({ ...working, finalize: { into: "main" } });
  expect((await ratchet("run")).code).toBe(0);
});

test("do leaves no issue behind where it can be known that its run cannot start", async () => {
  const box = sandbox();
  box.configure({ ...working, finalize: { into: "nope" } });
  const refused = { code: 2, says: /finalize\.into names nope, and there is no such branch/, hint: /git branch nope/ };
  expectSentence(await box.ratchet("do", "x"), refused);
  expect(JSON.parse(await box.quick("work", "list", "--json"))).toEqual([]);
});

test("do says how to go on with an issue whose run could not start", async () => {
  const box = sandbox();
  box.configure({ agent: { ...working.agent, sandbox: "bwrap" } });
  chmodSync(box.put("bin/bwrap", "#!/bin/sh\nexit 1\n"), 0o755);
  const env = { PATH: `${join(box.root, "bin")}:${box.env.PATH}` };
  const { code, stdout, stderr } = await box.start(["do", "x"], { env }).ended;
  expect([code, stdout]).toEqual([2, "added shop-1\n"]);
  expect(stderr).toMatch(/^shop-1 waits: ratchet run shop-1\nratchet: .*bwrap/);
});

test("secrets in what is printed are taken out", async () => {
  const { start, configure } = sandbox();
  configure(working);
  const env = { MY_API_TOKEN: "hunter2-hunter2" };
  const { stderr } = await start(["run", "hunter2-hunter2"], { env }).ended;
  expect(stderr).toContain("[redacted]");
  expect(stderr).not.toContain("hunter2");
});

test.each([
  [["work", "add", "x", "--dep", ""], 2, "--dep names no issue"],
  [["work", "add", "x", "--parent", ""], 2, "--parent names no epic"],
  [["run", ""], 1, 'no issue "" in shop'],
  [["run", "--dry-run", "--resume", "nope"], 1, "no issue nope in shop"],
  [["findings", ""], 1, 'no issue "" in shop'],
  [["logs", "show", ""], 1, 'no run ""'],
  [["stop", ""], 1, 'no run and no running issue ""'],
  [["land", ""], 1, 'no issue ""'],
  [["workflow", "validate", ""], 1, '"" is no file, so no workflow'],
  [["answer", ""], 1, 'nobody asks for ""'],
  [["runs", "import", ""], 1, '"" cannot be read'],
  [["pr", "rework", ""], 2, '"" is no number'],
  [["project", "add", "README.md"], 1, "README.md is no folder"],
])("%j is told, for people and for programs", async (args, code, message) => {
  const { ratchet, configure } = sandbox();
  configure(working);
  const ended = await ratchet(...args);
  expect([ended.code, ended.stdout]).toEqual([code, ""]);
  expect(ended.stderr).toContain(`ratchet: ${message}`);
  const { error } = JSON.parse((await ratchet(...args, "--json")).stdout);
  expect(error).toEqual({ code: expect.any(String), message: expect.stringContaining(message), hint: error.hint });
  expect(error.code).not.toBe("bug");
});

test("a folder where the configuration belongs is in init's way, and stays", async () => {
  const { ratchet, dir } = sandbox();
  mkdirSync(join(dir, "ratchet.yaml"));
  expectSentence(await ratchet("init", "--yes"), { code: 1, says: /ratchet\.yaml is a folder/, hint: /move it away/ });
  expect(existsSync(join(dir, "ratchet.yaml.bak"))).toBe(false);
});

test("init says that it may not write where the configuration belongs", async () => {
  const { ratchet, dir } = sandbox();
  // Nobody may make a file there, root neither.
  symlinkSync("/sys/ratchet.yaml", join(dir, "ratchet.yaml"));
  const refused = { code: 1, says: /ratchet\.yaml cannot be written: EACCES/, hint: /make \/sys writable/ };
  expectSentence(await ratchet("init", "--yes"), refused);
});

test("a demo without a temporary folder says how to name another place, and works there", async () => {
  const { start, root } = sandbox();
  const env = { TMPDIR: join(root, "nope") };
  const refused = { code: 2, says: /the demo's folder cannot be made/, hint: /--dir FOLDER/ };
  expectSentence(await start(["demo"], { env }).ended, refused);
  expect(await start(["demo", "--dir", join(root, "demo")], { env }).ended).toMatchObject({ code: 0 });
});

test.each(["do", "work add"])("%s with a text that is not in quotes says so", async (command) => {
  const { ratchet } = sandbox();
  const told = { code: 2, says: /too many arguments/, hint: new RegExp(`in quotes: ratchet ${command} "…"`) };
  expectSentence(await ratchet(...command.split(" "), "fix", "the", "bug"), told);
});

test("without any run the last one is none, and the hint leads to one", async () => {
  const { ratchet } = sandbox();
  const told = { code: 1, says: /there is no run yet/, hint: /ratchet run starts one/ };
  expectSentence(await ratchet("logs", "show", "last"), told);
});

test("init knows a bare repository for one", async () => {
  const { start, root, env } = sandbox();
  const cwd = join(root, "bare.git");
  execFileSync("git", ["init", "--quiet", "--bare", cwd], { env });
  const { code, stderr } = await start(["init", "--yes"], { cwd }).ended;
  expect([code, stderr]).toEqual([0, expect.not.stringContaining("is not in a git repository")]);
});

test("started in a folder that is gone, a command says so; help needs none", () => {
  const { root, env } = sandbox();
  const gone = join(root, "gone");
  const start = (args: string) => {
    mkdirSync(gone);
    const ended = spawnSync("sh", ["-c", `rmdir "$PWD"; exec "$0" "$1" ${args}`, process.execPath, program], {
      ...{ cwd: gone, env, encoding: "utf8" },
    });
    return { code: ended.status, stdout: String(ended.stdout), stderr: String(ended.stderr) };
  };
  expectSentence(start("status"), { code: 2, says: /is gone/, hint: /change to one that is there/ });
  expect(JSON.parse(start("run --json").stdout)).toMatchObject({ error: { code: "no-folder" } });
  expect(start("run --help")).toMatchObject({ code: 0, stderr: "" });
});
