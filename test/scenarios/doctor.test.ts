import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selfIdentity } from "../../src/lib/process-identity.js";
import type { Check } from "../../src/views/doctor.js";
import { type Sandbox, sandbox } from "./sandbox.js";

interface Examined {
  readonly code: number | null;
  readonly checks: Readonly<Record<string, Check>>;
}

async function examine(box: Sandbox, options: { env?: NodeJS.ProcessEnv; cwd?: string } = {}): Promise<Examined> {
  const { code, stdout } = await box.start(["doctor", "--json"], options).ended;
  const { checks }: { checks: Check[] } = JSON.parse(stdout);
  return { code, checks: Object.fromEntries(checks.map((check) => [check.name, check])) };
}
const missing = ({ checks }: Examined) => Object.values(checks).flatMap(({ name, ok }) => (ok ? [] : [name]));

/** A reviewer that objects once, so that the lives have something to tell. */
function configure(box: Sandbox): void {
  const work = 'echo x >> "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';
  const finding = { file: "a", line_start: 1, line_end: 1, priority: 1, title: "Too short", body: "" };
  const fail = JSON.stringify({ verdict: "fail", findings: [finding] });
  const review = `cat > /dev/null
if [ "$RATCHET_ATTEMPT" = 1 ]; then echo '${fail}'; else echo '{"verdict": "pass", "findings": []}'; fi\n`;
  box.configure({
    agent: { type: "command", command: box.script("agent", work) },
    commands: { test: "true" },
    evidence_check: { required: ["test"] },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("review", review) },
  });
}

test.each([
  ["nowhere", "git branch nowhere"],
  ["refs/heads/main", "a branch's name is enough: finalize.into: main"],
])("doctor and run say the same of finalize.into: %s", async (into, hint) => {
  const box = sandbox();
  configure(box);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { into } });
  const examined = await examine(box);
  const says = `finalize.into names ${into}, and there is no such branch`;
  expect(examined).toMatchObject({ code: 1, checks: { target: { ok: false, detail: says, advice: hint } } });
  const { code, stderr } = await box.ratchet("run");
  expect([code, stderr]).toEqual([2, `ratchet: ${says}\n  hint: ${hint}\n`]);
});

test("doctor finds everything there, and that the history of a finished run gives what is stored", async () => {
  const box = sandbox();
  configure(box);
  await box.add("one");
  await box.add("two", { more: ["--dep", "one"] });
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await box.issue("one")).toMatchObject({ review_attempts: 2 });
  const examined = await examine(box);
  expect([examined.code, missing(examined)]).toEqual([0, []]);
  // Which agents are on PATH is this machine's affair.
  expect(Object.keys(examined.checks).filter((name) => name !== "also here")).toEqual([
    ...["git", "repository", "configuration", "target", "agent", "reviewer command"],
    ...["tracker", "state home", "database", "disk", "mirror", "journal"],
  ]);
  const { run_id } = await box.record();
  expect(examined.checks.journal?.detail).toBe(`run ${run_id}: the history of 3 machines gives what is stored`);
  const { code, stdout } = await box.ratchet("doctor");
  expect([code, stdout]).toEqual([0, expect.stringContaining("everything that is needed is there")]);
});

test.each([
  ["has lost all objects", "rm -rf objects/*"],
  ["has lost an object of an issue's", "rm $(git rev-parse ratchet/one^{tree} | sed 's|^..|objects/&/|')"],
  ["has lost its HEAD", "rm HEAD"],
  ["has lost its own refs", "rm -rf refs/ratchet packed-refs"],
])("doctor says that a mirror %s; the next command mends it and says so", async (_, how) => {
  const box = sandbox();
  configure(box);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), commands: { test: "false" }, max_gate_retries: 1 });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect((await examine(box)).checks.mirror).toMatchObject({ ok: true });
  const mirror = join(box.home, "repos", "shop.git");
  execFileSync("sh", ["-ec", how], { cwd: mirror });
  const advice = "the next command that needs it puts it right, `ratchet run --resume` goes on with the files";
  const detail = expect.stringContaining(`${mirror} is damaged`);
  expect((await examine(box)).checks.mirror).toEqual({ name: "mirror", ok: false, detail, advice });
  const { code, stdout, stderr } = await box.ratchet("diff", "one");
  expect([code, stdout]).toEqual([0, expect.stringContaining("one.txt")]);
  expect(stderr).toBe(`ratchet: ${mirror} was damaged and is mended from your repository and the worktrees\n`);
  expect((await examine(box)).checks.mirror).toMatchObject({ ok: true });
});

test("doctor names the work that was in a mirror and worktrees that are gone", async () => {
  const box = sandbox();
  configure(box);
  await box.add("good");
  expect((await box.ratchet("run")).code).toBe(0);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), commands: { test: "false" }, max_gate_retries: 1 });
  for (const id of ["one", "two"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(1);
  await box.quick("work", "complete", "two");
  for (const name of ["repos", "worktrees"]) rmSync(join(box.home, name), { recursive: true });
  const { mirror } = (await examine(box)).checks;
  const detail = expect.stringMatching(/shop\.git is gone, and so are the worktrees: the work on one was there$/);
  expect(mirror).toMatchObject({ ok: false, detail, advice: expect.stringContaining("begins these anew") });
});

function isOfOne({ life }: { readonly life: { readonly issueId?: unknown } }): boolean {
  return life.issueId === "one";
}

test("doctor notices a stored row that its history does not give", async () => {
  const box = sandbox();
  configure(box);
  await box.add("one");
  await box.ratchet("run");
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const database = new DatabaseSync(join(box.home, "ratchet.db"));
  const machines = database.prepare("SELECT no, state FROM machines WHERE state LIKE '{%'").all();
  const one = machines
    .map(({ no, state }) => ({ no, ...JSON.parse(String(state)) }))
    .map(({ no, owed, state: life }) => ({ no, owed, life }))
    .find(isOfOne);
  const wrong = JSON.stringify({ state: { ...one?.life, turns: 99 }, owed: one?.owed });
  expect(database.prepare("UPDATE machines SET state = ? WHERE no = ?").run(wrong, Number(one?.no)).changes).toBe(1);
  database.close();
  const examined = await examine(box);
  expect([examined.code, missing(examined)]).toEqual([1, ["journal"]]);
  expect(examined.checks.journal?.detail).toContain(":one does not give what is stored");
});

test("doctor names what is missing, with advice, and exits 1", async () => {
  const box = sandbox();
  const review = { enabled: true, reviewer_type: "command", command: ["no-such-reviewer"] };
  box.configure({ agent: { type: "command", command: ["no-such-agent"] }, per_issue_review: review });
  const examined = await examine(box);
  expect([examined.code, missing(examined)]).toEqual([1, ["agent", "reviewer command"]]);
  for (const name of ["agent", "reviewer command"]) expect(examined.checks[name]?.advice).toMatch(/\S/);
  const { stdout } = await box.ratchet("doctor");
  expect(stdout).toMatch(/^MISSING {2}agent +.*no-such-agent/m);
  expect(stdout).toMatch(/^2 of \d+ need attention$/m);
});

/** A folder for PATH with these programs, each a shell script. */
function folderOf(box: Sandbox, programs: Readonly<Record<string, string>>): string {
  for (const [name, text] of Object.entries(programs)) {
    chmodSync(box.put(`programs/${name}`, `#!/bin/sh\n${text}\n`), 0o755);
  }
  return join(box.root, "programs");
}

test("an agent that does not answer as it should, or is too old to be called, is not ok", async () => {
  const box = sandbox();
  const programs = folderOf(box, {
    claude: "echo '1.0.33 (Claude Code)'",
    codex: "echo codex-cli 0.99.0",
    pi: "echo 0.69.1",
  });
  const env = { PATH: `${programs}:/usr/bin:/bin` };
  box.configure({ agent: { type: "acp", command: ["cat"] } });
  const silent = await examine(box, { env });
  expect([silent.code, missing(silent)]).toEqual([1, ["agent"]]);
  expect(silent.checks.agent?.advice).toContain("cat does not speak ACP");
  for (const [type, detail] of [
    ["claude", "claude 1.0.33 (too old)"],
    ["codex", "codex 0.99.0 (too old)"],
    ["pi", "pi 0.69.1 (too old)"],
  ]) {
    box.configure({ agent: { type } });
    const { code, checks } = await examine(box, { env });
    expect([code, checks.agent]).toMatchObject([
      1,
      { ok: false, detail, advice: expect.stringMatching(/npm install/) },
    ]);
  }
});

test("doctor tells a program that fails from one that cannot be started, with what it says", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "claude" } });
  const asked = async (text: string) => {
    chmodSync(box.put("programs/claude", text), 0o755);
    const { code, checks } = await examine(box, { env: { PATH: `${join(box.root, "programs")}:/usr/bin:/bin` } });
    expect([code, checks.agent?.ok]).toEqual([1, false]);
    return checks.agent?.advice;
  };
  expect(await asked("#!/bin/sh\necho no memory left >&2\nexit 7\n")).toContain(
    "(claude --version failed with exit 7: no memory left)",
  );
  expect(await asked("#!/bin/sh\nkill -SEGV $$\n")).toContain("(claude --version was ended by SIGSEGV)");
  expect(await asked("#!/no/such/node\n")).toContain(
    "(claude cannot be started: what its first line names is not there)",
  );
});

test("doctor tells which other agents are here, and names agent.fallback when its program is missing", async () => {
  const box = sandbox();
  const programs = folderOf(box, { claude: "echo '2.1.9 (Claude Code)'", codex: "exit 1" });
  const env = { PATH: `${programs}:/usr/bin:/bin` };
  box.configure({ agent: { type: "claude", fallback: { type: "pi" } } });
  const { checks } = await examine(box, { env });
  expect(checks["also here"]).toEqual({
    name: "also here",
    ok: true,
    detail: "other agents here: codex",
    advice: null,
  });
  const fallback = {
    ok: false,
    detail: expect.stringMatching(/^agent\.fallback\.type: the program pi was not found/),
  };
  expect(checks["agent.fallback"]).toMatchObject({ ...fallback, advice: expect.stringContaining("npm install") });
  const { code, stderr } = await box.start(["run"], { env }).ended;
  expect([code, stderr]).toEqual([2, expect.stringContaining("agent.fallback.type: the program pi")]);
});

test("doctor looks at every member of a panel", async () => {
  const box = sandbox();
  box.write("own.sh", "#!/bin/sh\n");
  chmodSync(join(box.dir, "own.sh"), 0o755);
  box.git("add", "own.sh");
  box.git("commit", "--quiet", "--message", "Our own reviewer");
  const panel = [
    { name: "other", reviewer_type: "agent_sdk", agent_sdk_agent: { type: "codex" } },
    { name: "named", reviewer_type: "agent_sdk", agent_sdk_agent: { type: "codex", command: ["no-such-codex"] } },
    { name: "own", reviewer_type: "agent_sdk", agent_sdk_agent: { type: "command", command: ["./own.sh"] } },
    { name: "style", reviewer_type: "command", command: ["no-such-reviewer"] },
  ];
  const per_issue_review = { enabled: true, reviewer_type: "panel", panel };
  box.configure({ agent: { type: "command", command: ["sh"] }, per_issue_review });
  const examined = await examine(box, { env: { PATH: "/usr/bin:/bin" } });
  expect([examined.code, missing(examined)]).toEqual([1, ["reviewer other", "reviewer named", "reviewer style"]]);
  for (const name of missing(examined)) expect(examined.checks[name]?.advice).toMatch(/\S/);
  expect(examined.checks["reviewer other"]?.detail).toContain("per_issue_review.panel[0].agent_sdk_agent.type: ");
  expect(examined.checks["reviewer named"]?.detail).toContain("per_issue_review.panel[1].agent_sdk_agent.command: ");
});

test("doctor says what run would refuse: no branch to land on, or one that is not there", async () => {
  const box = sandbox();
  const agent = { type: "command", command: ["sh"] };
  box.configure({ agent, finalize: { into: "nope" } });
  const gone = await examine(box);
  expect([gone.code, missing(gone)]).toEqual([1, ["target"]]);
  expect(gone.checks.target).toMatchObject({ detail: expect.stringContaining("nope"), advice: "git branch nope" });
  box.configure({ agent });
  box.git("checkout", "--quiet", "--detach");
  const detached = await examine(box);
  expect([detached.code, missing(detached)]).toEqual([1, ["target"]]);
  expect(detached.checks.target?.advice).toContain("finalize.into");
});

test("doctor says of a file that a command names when no worktree will have it", async () => {
  const box = sandbox();
  box.write("agent.sh", "true\n");
  box.write("tool/agent.mjs", "");
  box.write(".gitignore", "tool/\n");
  const agent = { type: "command", command: ["sh", "./agent.sh"] };
  box.configure({ agent });
  const untracked = await examine(box);
  expect([untracked.code, missing(untracked)]).toEqual([1, ["command"]]);
  expect(untracked.checks.command).toMatchObject({
    detail: "not committed on main, so in no worktree: agent.sh",
    advice: "commit agent.sh, or name it in worktree.copy",
  });
  box.configure({ agent, worktree: { copy: ["agent.sh"] } });
  expect(missing(await examine(box))).toEqual([]);
  box.git("add", "agent.sh");
  box.git("commit", "--quiet", "--message", "The agent");
  const made = { type: "command", command: ["node", "tool/agent.mjs"] };
  box.configure({ agent, per_issue_review: { enabled: true, reviewer_type: "command", command: made.command } });
  expect((await examine(box)).checks.command?.detail).toContain("tool/agent.mjs");
  // What git ignores is often made by setup.
  box.configure({ agent: made, commands: { setup: "make tool" } });
  expect(missing(await examine(box))).toEqual([]);
});

test("doctor tells of a file that setup needs in each worktree and that is not committed", async () => {
  const box = sandbox();
  const agent = { type: "command", command: ["true"] };
  box.write("package.json", "{}");
  box.write("package-lock.json", "{}");
  box.write(".gitignore", "package-lock.json\n");
  box.configure({ agent, commands: { setup: "npm ci && npm run build" } });
  const untracked = await examine(box);
  expect([untracked.code, missing(untracked)]).toEqual([1, ["setup"]]);
  expect(untracked.checks.setup).toMatchObject({
    detail: "not committed on main, so in no worktree: package.json, package-lock.json",
  });
  box.git("add", "package.json");
  box.git("commit", "--quiet", "--message", "The package");
  expect((await examine(box)).checks.setup?.detail).toMatch(/: package-lock\.json$/);
  box.configure({ agent, commands: { setup: "npm ci" }, worktree: { copy: ["package-lock.json"] } });
  expect(missing(await examine(box))).toEqual([]);
  box.configure({ agent, commands: { setup: "npm install" } });
  expect(missing(await examine(box))).toEqual([]);
  box.configure({ agent, commands: { setup: "npm ci" } });
  box.git("add", "--force", "package-lock.json");
  box.git("commit", "--quiet", "--message", "The lock file");
  expect(missing(await examine(box))).toEqual([]);
});

test("doctor sends somebody without a configuration to init, and one with a wrong one to config check", async () => {
  const box = sandbox();
  const none = await examine(box);
  expect([none.code, missing(none)]).toEqual([1, ["configuration"]]);
  expect(none.checks.configuration?.advice).toContain("ratchet init");
  box.write("ratchet.yaml", "agent: {type: command, command: [sh]}\nmax_agents: -3\nmax_isues: 2\n");
  const wrong = await examine(box);
  expect(wrong.checks.configuration).toMatchObject({ ok: false, advice: expect.stringContaining("config check") });
  expect(wrong.checks.configuration?.detail).toMatch(/^ratchet\.yaml:2:.*\(and 1 more\)$/);
});

test("doctor notices an old git, no git, and no repository", async () => {
  const box = sandbox();
  configure(box);
  const bin = join(box.root, "old");
  mkdirSync(bin);
  writeFileSync(
    join(bin, "git"),
    `#!/bin/sh\n[ "$1" = --version ] && echo git version 2.30.2 || exec ${gitPath} "$@"\n`,
  );
  chmodSync(join(bin, "git"), 0o755);
  const old = await examine(box, { env: { PATH: `${bin}:${box.env.PATH}` } });
  expect(missing(old)).toEqual(["git"]);
  expect(old.checks.git).toMatchObject({ detail: "git version 2.30.2", advice: expect.stringContaining("2.38") });
  const none = await examine(box, { env: { PATH: join(box.root, "empty") } });
  expect(none.checks.git).toMatchObject({ ok: false, detail: "git is not on PATH" });
  const outside = await examine(box, { cwd: box.root });
  expect(missing(outside)).toEqual(["repository", "configuration"]);
});
const gitPath = (process.env.PATH ?? "")
  .split(":")
  .map((folder) => join(folder, "git"))
  .find(existsSync);

test("doctor says when the state home cannot be used", async () => {
  const box = sandbox();
  configure(box);
  const place = box.put("a-file", "");
  const examined = await examine(box, { env: { RATCHET_HOME: join(place, "home") } });
  // What only follows from it is no second problem.
  expect([examined.code, missing(examined)]).toEqual([1, ["state home"]]);
  expect(examined.checks["state home"]).toMatchObject({ ok: false, advice: expect.stringContaining("RATCHET_HOME") });
});

test("doctor says once that an older Ratchet is at work, and of a run of a workflow that it is none with issues", async () => {
  const box = sandbox();
  configure(box);
  const file = box.put(
    "w.awf.kdl",
    `workflow "w" {
  version 2
  goal "g"
  start "look"
  stage "look" kind="tool" command="true"
  stage "exit" kind="exit"
  transition from="look" to="exit"
}`,
  );
  expect(await box.ratchet("workflow", "run", file)).toMatchObject({ code: 0 });
  const { checks } = await examine(box);
  expect(checks.journal?.detail).toBe("only workflows have ended lately, and their history is not checked");
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const database = new DatabaseSync(join(box.home, "ratchet.db"));
  const { user_version: version } = database.prepare("PRAGMA user_version").get() as { user_version: number };
  database.exec(`PRAGMA user_version = ${version - 1}`);
  const machine = "INSERT INTO machines (id, kind, stream, epoch, driver) SELECT 'm', 'run', no, 1, ? FROM streams";
  database.prepare(machine).run(JSON.stringify(selfIdentity()));
  database.close();
  const examined = await examine(box);
  expect([examined.code, missing(examined)]).toEqual([1, ["database"]]);
  expect(examined.checks.database?.detail).toContain("is in use by an older Ratchet");
});

test("doctor tells of tracker and forge also where there is no commit yet, and where there is no repository", async () => {
  const box = sandbox();
  for (const [folder, begin] of [
    ["fresh", (path: string) => void execFileSync("git", ["init", "-q", path])],
    ["plain", (path: string) => void mkdirSync(path)],
  ] as const) {
    const path = join(box.root, folder);
    begin(path);
    const settings = {
      agent: { type: "command", command: ["sh"] },
      tracker: { type: "beads" },
      finalize: { mode: "pr" },
    };
    writeFileSync(join(path, "ratchet.yaml"), JSON.stringify(settings));
    const { checks } = await examine(box, { cwd: path, env: { PATH: "/usr/bin:/bin" } });
    expect([checks.repository?.ok, checks.tracker?.detail, checks.forge?.ok]).toEqual([
      false,
      expect.stringContaining("bd"),
      false,
    ]);
  }
});

test("doctor tells of settings of git's with which it does nothing, and calls nothing damaged", async () => {
  const box = sandbox();
  configure(box);
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  box.put(".gitconfig", "[core\n");
  const examined = await examine(box);
  expect(missing(examined)).toEqual(["git", "repository", "mirror"]);
  const said = expect.stringContaining("bad config line 1");
  expect(examined.checks).toMatchObject({ git: { detail: said }, mirror: { detail: said } });
  box.put(".gitconfig", "");
  expect(missing(await examine(box))).toEqual([]);
});
