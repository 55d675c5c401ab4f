import { execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, type Sandbox, sandbox, until } from "./sandbox.js";

const pathOf = (box: Sandbox, issue: string) => join(box.home, "worktrees", "shop", issue);

test("D1 a worktree is not taken from an agent that outlives its run; the run that goes on finds its work", async () => {
  const box = sandbox();
  const wait = box.put("wait", "");
  const agent = `: >"$HOME/began"; while [ -e ${wait} ]; do sleep 0.05; done; echo x >one.txt; git add -A; git commit -qm Did\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  const run = box.start(["run"]);
  await until("the agent has begun", () => existsSync(join(box.root, "began")));
  run.kill("SIGKILL");
  await run.ended;
  for (const verb of ["park", "restore"]) {
    const refused = await box.ratchet("worktree", verb, "one");
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/is in the middle of one.*\n.*ratchet run /),
    ]);
  }
  expect(await box.quick("worktree", "clean")).toMatch(
    /^kept one: run \S+ is in the middle of one, and its process is gone\n$/,
  );
  rmSync(wait);
  expect((await box.ratchet("run")).code).toBe(0);
  expect(box.git("show", "main:one.txt")).toBe("x");
});

test("a run that has ended has deleted the worktrees it removed", async () => {
  const box = sandbox();
  const agent = 'echo x >"$RATCHET_ISSUE_ID.txt"; git add -A; git commit -qm Did\n';
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  for (const id of ["one", "two"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(0);
  expect(readdirSync(join(box.home, "repos", "shop.git", "checkouts"))).toEqual([]);
  expect(existsSync(pathOf(box, "one"))).toBe(false);
});

test("worktree clean removes what nobody works in, says what became of each, and loses nothing", async () => {
  const box = sandbox();
  const agent = 'echo x >"$RATCHET_ISSUE_ID.txt"; git add -A; git commit -qm Did; exit 3\n';
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  expect(await box.quick("worktree", "clean")).toBe("No worktrees to remove.\n");
  for (const id of ["one", "two"]) await box.add(id);
  await box.ratchet("run");
  const [one, two] = [pathOf(box, "one"), pathOf(box, "two")];
  writeFileSync(join(one, "loose.txt"), "not committed\n");
  expect(await box.quick("worktree", "clean", "--dry-run")).toContain(`would remove one, `);
  expect(existsSync(one)).toBe(true);
  const person = spawn("sleep", ["60"], { cwd: two, stdio: "ignore" });
  const cleaned = JSON.parse(await box.quick("worktree", "clean", "--json"));
  person.kill();
  expect(cleaned).toEqual({
    dry_run: false,
    worktrees: [
      { issue_id: "one", path: one, removed: true, ref: "refs/ratchet/parked/one/1", kept: null },
      { issue_id: "two", path: two, removed: false, ref: null, kept: `process ${person.pid} works in ${two}` },
    ],
  });
  expect([existsSync(one), existsSync(two)]).toEqual([false, true]);
  await box.quick("worktree", "restore", "one");
  expect(readFileSync(join(one, "loose.txt"), "utf8")).toBe("not committed\n");
  expect((await box.quick("worktree", "clean")).split("\n").sort()).toEqual([
    "",
    expect.stringMatching(
      /^removed one, put aside as refs\/ratchet\/parked\/one\/\d; ratchet worktree restore one brings it back$/,
    ),
    expect.stringMatching(/^removed two, put aside as /),
  ]);
});

test("a worktree that is emptied and put aside is removed: the issue starts afresh, on the branch as it is then", async () => {
  const box = sandbox();
  const agent = `ls >"$HOME/seen"; [ -e needed.txt ] && w=good || w=junk; echo x >$w.txt; git add -A; git commit -qm $w; [ $w = good ]\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  box.write("needed.txt", "x\n");
  box.git("add", "needed.txt");
  box.git("commit", "-qm", "Needed");
  const inWorktree = (...args: string[]) => box.git("-C", pathOf(box, "one"), ...args);
  inWorktree("reset", "-q", "--hard", "main");
  inWorktree("clean", "-fdq");
  expect(await box.quick("worktree", "park", "one")).toBe("one had nothing to put aside; its worktree is removed\n");
  await box.quick("retry", "one");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(readFileSync(join(box.root, "seen"), "utf8")).not.toContain("junk.txt");
  expect((await box.quick("diff", "one", "--stat")).trim()).toBe("good.txt");
});

test("an issue's worktree never becomes a project: commands there say whose it is and where to go", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", "echo x >one.txt; exit 3\n") } });
  await box.add("one");
  await box.ratchet("run");
  for (const command of ["status", "logs list", "logs show last", "findings", "explain one", "work add two"]) {
    const said = await box.start(command.split(" "), { cwd: pathOf(box, "one") }).ended;
    const told = expect.stringContaining(
      `this is the worktree of one of ${box.dir}\n  hint: change to the repository: cd ${box.dir}`,
    );
    expect([command, said.code, said.stderr]).toEqual([command, 2, told]);
  }
  expect(JSON.parse(await box.quick("project", "list", "--json"))).toHaveLength(1);
});

test.each([
  ["as it is", ":", "."],
  ["from a folder below it", "mkdir -p below", "below"],
  ["with a repository of the agent's own in place of its .git", "rm -rf .git && git init -q", "."],
  ["from a repository that was made in it", "git init -q below", "below"],
])("an issue's worktree is known whatever state home is asked, %s: it says whose it is", async (_, shell, below) => {
  const box = sandbox();
  for (const [key, value] of Object.entries(person)) box.git("config", "--global", key, value);
  const commands = ["work add two", "status", "findings"];
  const each = commands.map((command) => `ratchet ${command}; echo "${command}: $?"`).join("; ");
  const agent = `${shell}; (cd ${below}; git commit -q --allow-empty -m Did; ${each}) >"$HOME/said" 2>&1; exit 3`;
  box.put("bin/ratchet", `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`);
  chmodSync(join(box.root, "bin/ratchet"), 0o755);
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  const env = { PATH: `${join(box.root, "bin")}:${box.env.PATH}` };
  await box.start(["run"], { env }).ended;
  const told = `this is the worktree of one of ${box.dir}, in the state home ${box.home}\n  hint: change to the repository: cd ${box.dir}`;
  const said = readFileSync(join(box.root, "said"), "utf8");
  for (const command of commands) expect(said).toContain(`${command}: 2\n`);
  expect(said.split(told)).toHaveLength(commands.length + 1);
  const theirs = await box.start(["project", "list", "--json"], { env: { RATCHET_HOME: join(box.root, ".ratchet") } })
    .ended;
  expect(JSON.parse(theirs.stdout)).toEqual([]);
});

const person = { "user.name": "A Person", "user.email": "person@localhost" };

test("whoever has a state home of their own in an issue's worktree tries Ratchet out there", async () => {
  const box = sandbox();
  for (const [key, value] of Object.entries(person)) box.git("config", "--global", key, value);
  const agent = "git init -q try; cd try; git commit -q --allow-empty -m Start; exit 3";
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  await box.ratchet("run");
  const cwd = join(pathOf(box, "one"), "try");
  const env = { RATCHET_HOME: join(pathOf(box, "one"), "home") };
  expect((await box.start(["work", "add", "two"], { cwd, env }).ended).code).toBe(0);
});

test("a repository of the user's in a folder called worktrees of the state home stays a project", async () => {
  const box = sandbox();
  const [home, there] = [join(box.root, "dev"), join(box.root, "dev", "worktrees", "proj", "feature")];
  execFileSync("git", ["clone", "--quiet", box.dir, there], { env: box.env });
  const script = box.script(
    "agent.sh",
    'cat >/dev/null; echo x >"$RATCHET_ISSUE_ID"; git add -A; git commit -q -m Work',
  );
  writeFileSync(join(there, "ratchet.yaml"), JSON.stringify({ agent: { type: "command", command: script } }));
  const env = { ...box.env, RATCHET_HOME: home };
  const ratchet = async (...args: string[]) => await box.start(args, { cwd: there, env }).ended;
  for (const id of ["one", "two"]) {
    expect(await ratchet("work", "add", id, "--id", id)).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect((await ratchet("run")).code).toBe(0);
  }
});
