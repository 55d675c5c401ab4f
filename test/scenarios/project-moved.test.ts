import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, sandbox, until } from "./sandbox.js";

const work = 'echo x >> "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';

function move(box: Sandbox): (...args: string[]) => ReturnType<Sandbox["ratchet"]> {
  const cwd = join(box.root, "store");
  renameSync(box.dir, cwd);
  return (...args) => box.start(args, { cwd }).ended;
}

test("a repository that was renamed is told where its board is, and gets it back with its killed run", async () => {
  const box = sandbox();
  const [go, begun] = [join(box.root, "go"), join(box.root, "begun")];
  const slow = `touch ${begun}\nwhile [ ! -e ${go} ]; do sleep 0.05; done\n${work}`;
  box.configure({ agent: { type: "command", command: box.script("agent", slow) } });
  await box.add("one");
  await box.add("two", { more: ["--dep", "one"] });
  const run = box.start(["run"]);
  await until("the agent is at work", () => existsSync(begun));
  run.kill("SIGKILL");
  await run.ended;
  box.put("go", "");
  const ratchet = move(box);
  const first = await ratchet("work", "list");
  expect(first.stdout).toContain("No work.");
  expect(first.stderr).toBe(
    [
      `ratchet: project shop was at ${box.dir}, which is gone: 2 issues wait there`,
      `ratchet: if ${join(box.root, "store")} is it: ratchet project move shop`,
      "",
    ].join("\n"),
  );
  expect((await ratchet("work", "list")).stderr).toBe("");
  const listed = await ratchet("project", "list");
  expect(listed.stdout).toMatch(/shop +\S+\/shop \(gone\)/);
  expect(listed.stderr).toContain("ratchet project move");
  expect(await ratchet("project", "move", "shop")).toMatchObject({
    code: 0,
    stdout: `shop is at ${join(box.root, "store")}\n`,
  });
  expect(await ratchet("run")).toMatchObject({ code: 0, stdout: expect.stringContaining("Continuing run") });
  const { stdout } = await ratchet("work", "list", "--all", "--json");
  expect(JSON.parse(stdout)).toMatchObject([
    { id: "one", status: "completed" },
    { id: "two", status: "completed" },
  ]);
  expect(existsSync(box.dir)).toBe(false);
  const projects = JSON.parse((await ratchet("project", "list", "--json")).stdout);
  expect(projects).toEqual([{ project_id: "shop", repo_path: join(box.root, "store") }]);
});

test("a project is moved neither away from a repository that is there, nor to one that is another, nor onto open work", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  await box.add("two");
  const other = join(box.root, "other");
  mkdirSync(other);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: other, env: box.env });
  git("init", "--quiet");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message", "Another");
  const refused = async (cwd: string) => {
    const { code, stderr } = await box.start(["project", "move", "shop"], { cwd }).ended;
    expect(code).toBe(1);
    return stderr;
  };
  expect(await refused(other)).toContain(`${box.dir} is still there`);
  const ratchet = move(box);
  expect(await refused(other)).toContain(`${other} has none of its commits`);
  expect((await ratchet("work", "add", "Something new")).code).toBe(0);
  expect(await refused(join(box.root, "store"))).toContain("in store, which is here now, an issue is open");
  expect(await ratchet("work", "show", "two", "--project", "shop")).toMatchObject({ code: 0 });
});

test("a linked worktree is a project of its own, and says whose issues it has not", async () => {
  const box = sandbox();
  await box.add("one");
  const cwd = join(box.root, "linked");
  box.git("worktree", "add", "--quiet", "-b", "dev", cwd);
  const ratchet = (...args: string[]) => box.start(args, { cwd }).ended;
  const first = await ratchet("work", "list");
  expect([first.stdout.startsWith("No work."), first.stderr.split("\n")]).toEqual([
    true,
    [
      `ratchet: ${cwd} is a worktree of ${box.dir}: a project of its own, linked, with a board of its own`,
      "ratchet: the issues of shop: ratchet work list --project shop",
      "",
    ],
  ]);
  const again = await ratchet("work", "list", "--project", "shop");
  expect([again.stdout.includes("one"), again.stderr]).toEqual([true, ""]);
});
