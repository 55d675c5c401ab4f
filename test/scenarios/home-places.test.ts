import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { program, type Sandbox, sandbox } from "./sandbox.js";

const fails = {
  agent: { type: "command", command: ["sh", "-c", "echo x > x && git add x && git commit -qm x; exit 1"] },
};

/** Of a repository whose issue has a worktree. */
async function afterRun(): Promise<Sandbox> {
  const box = sandbox();
  box.configure(fails);
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  return box;
}

const commands = [["run", "--resume"], ["worktree", "list"], ["gc"]];

async function expectTold(box: Sandbox, { path, says }: { readonly path: string; readonly says: string }) {
  const told = `the state home ${box.home} cannot be used: ${says}`;
  for (const command of commands) {
    const { code, stderr } = await box.ratchet(...command);
    const [first, hint, ...more] = stderr.trimEnd().split("\n");
    const exit = command[0] === "run" ? 3 : 1;
    expect({ command, code, first, more }).toEqual({ command, code: exit, first: `ratchet: ${told}`, more: [] });
    expect(hint).toMatch(/^ {2}hint: .*RATCHET_HOME/);
  }
  const { code, stdout } = await box.ratchet("doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; detail: string; advice: string }[] };
  const missing = checks.filter(({ ok }) => !ok);
  expect([code, missing.find(({ name }) => name === "state home")?.detail]).toEqual([1, told]);
  // What only follows from it is no second problem.
  expect(missing.filter(({ detail }) => detail.includes(`place of ${path}`))).toHaveLength(1);
}

/** Something else is in its place while the task runs. */
async function instead(path: string, put: () => void, task: () => Promise<void>): Promise<void> {
  const isThere = existsSync(path);
  if (isThere) renameSync(path, `${path}.away`);
  put();
  await task();
  rmSync(path, { recursive: true });
  if (isThere) renameSync(`${path}.away`, path);
}

test("a file in the place of a folder of the state home is one sentence, and stays as it is", async () => {
  const box = await afterRun();
  for (const name of ["repos", "worktrees", "worktrees/shop", "runs", "locks", "pull-requests"]) {
    const path = join(box.home, name);
    const put = () => writeFileSync(path, "somebody's");
    await instead(path, put, async () => {
      await expectTold(box, { path, says: `there is a file in the place of ${path}` });
      expect(readFileSync(path, "utf8")).toBe("somebody's");
    });
  }
  expect((await box.ratchet("worktree", "list")).stdout).toContain("one");
});

test("a folder in the place of a file of the state home is one sentence", async () => {
  const box = await afterRun();
  for (const name of ["ratchet.db", "wake", "serve-token"]) {
    const path = join(box.home, name);
    const put = () => mkdirSync(path);
    await instead(path, put, async () => {
      await expectTold(box, { path, says: `there is a folder in the place of ${path}` });
      // Whoever only looks needs the database alone.
      const { code, stderr } = await box.ratchet("status");
      const told = [1, expect.stringContaining("there is a folder in the place of")];
      expect([code, stderr]).toEqual(name === "ratchet.db" ? told : [0, ""]);
    });
  }
});

test("a folder that was moved to a disk that is not there now is one sentence", async () => {
  const box = await afterRun();
  const path = join(box.home, "worktrees");
  renameSync(path, join(box.root, "other-disk"));
  symlinkSync(join(box.root, "other-disk"), path);
  expect((await box.ratchet("worktree", "list")).code).toBe(0);
  renameSync(join(box.root, "other-disk"), join(box.root, "not-mounted"));
  const { code, stderr } = await box.ratchet("run", "--resume");
  expect(code).toBe(3);
  expect(stderr).toContain(
    `${path} is a link that leads nowhere\n  hint: make it lead to a folder, or set RATCHET_HOME`,
  );
});

const ownMounts = ["-r", "-m", "sh", "-c"];
const canMount = spawnSync("unshare", [...ownMounts, "mount -t tmpfs none /tmp"]).status === 0;

test.skipIf(!canMount)("a folder of the state home that cannot be written is one sentence", async () => {
  const box = await afterRun();
  const path = join(box.home, "worktrees");
  const mount = `mount --bind ${path} ${path} && mount -o remount,bind,ro ${path} || exit 99`;
  const script = `${mount}; ${process.execPath} ${program} run --resume`;
  const { status, stderr } = spawnSync("unshare", [...ownMounts, script], {
    cwd: box.dir,
    env: box.env,
    encoding: "utf8",
  });
  expect([status, stderr]).toEqual([
    3,
    expect.stringContaining(`cannot be used: ${path} is read-only\n  hint: make it`),
  ]);
});

test("a path with a line break is refused before anything is made there", async () => {
  const box = sandbox();
  box.configure(fails);
  const env = { RATCHET_HOME: `${box.home}\nline` };
  for (const command of [["run"], ["do", "x"], ["status"], ["doctor"], ["work", "add", "x"]]) {
    const { code, stdout, stderr } = await box.start(command, { env }).ended;
    const [told, hint, ...more] = stderr.trimEnd().split("\n");
    expect({ command, code, stdout, more }).toEqual({ command, code: 2, stdout: "", more: [] });
    expect(told).toBe(`ratchet: the state home "${box.home}\\nline" cannot be used: git reads its path as two lines`);
    expect(hint).toBe("  hint: set RATCHET_HOME to a folder without a line break in its path");
  }
  expect(existsSync(env.RATCHET_HOME)).toBe(false);
});

test("every folder that a run makes in the state home is known by its name", async () => {
  const box = await afterRun();
  const made = readdirSync(box.home, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const { folders } = ratchetHome({ RATCHET_HOME: box.home });
  expect(folders()).toEqual(expect.arrayContaining(made.map(({ name }) => join(box.home, name))));
});
