import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentScript, type PrWorld, prWorld } from "./pr-world.js";
import { program } from "./sandbox.js";

const rework = (cycle: number) => `rework-shop-pr-1-cycle-${cycle}`;
const turnsOf = (world: PrWorld) => readFileSync(join(world.root, "turns"), "utf8").trimEnd().split("\n");

test("a push that cannot be delivered waits for a resume, one that is refused has failed; neither is told as done", async () => {
  const world = await prWorld();
  await world.add("shop-1", { title: "Write it" });
  const origin = world.git("remote", "get-url", "origin");
  world.git("remote", "set-url", "origin", "http://127.0.0.1:9/acme/shop.git");
  expect(await world.ratchet("run")).toMatchObject({ code: 3 });
  expect(await world.issue("shop-1")).toMatchObject({ status: "interrupted", error: "forge_unreachable" });
  world.git("remote", "set-url", "origin", origin);

  const hook = join(world.root, "forge.git/hooks/pre-receive");
  writeFileSync(hook, "#!/bin/sh\necho protected branch hook declined >&2\nexit 1\n");
  chmodSync(hook, 0o755);
  expect(await world.ratchet("run", "--resume")).toMatchObject({ code: 1 });
  expect(await world.issue("shop-1")).toMatchObject({ status: "failed", error: "landing_failed" });
  expect(await world.status("shop-1")).toBe("failed");
  rmSync(hook);

  // Each resume tries the push first: nobody had anything to do since the only turn.
  expect(await world.ratchet("run", "--resume")).toMatchObject({ code: 0 });
  expect(turnsOf(world)).toHaveLength(1);
  expect(await world.item("shop-1")).toMatchObject({ status: "waiting_for_response", payload: { pr_number: 1 } });
});

test("P9 a token that is refused is told before an agent starts; an issue in an open pull request ends with it alone", async () => {
  const world = await prWorld();
  await world.add("shop-1", { title: "Write it" });
  const token = world.env.GITHUB_TOKEN;
  world.env.GITHUB_TOKEN = "wrong";
  const refused = await world.ratchet("run");
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/401.*\n {2}hint: .*GITHUB_TOKEN/) });
  expect(await world.status("shop-1")).toBe("available");
  world.env.GITHUB_TOKEN = token ?? "";

  // A folder that is gone may come back, as a server may.
  const [forge, aside] = [join(world.root, "forge.git"), join(world.root, "aside.git")];
  renameSync(forge, aside);
  expect(await world.ratchet("run")).toMatchObject({ code: 3 });
  expect(await world.issue("shop-1")).toMatchObject({ status: "interrupted", error: "forge_unreachable" });
  renameSync(aside, forge);
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect(turnsOf(world)).toHaveLength(1);

  for (const command of [
    ["work", "complete", "shop-1"],
    ["land", "shop-1"],
    ["retry", "shop-1"],
  ]) {
    const { code, stderr } = await world.ratchet(...command);
    expect([command, code, stderr]).toEqual([
      command,
      1,
      expect.stringMatching(/waits for pull request #1\n {2}hint: /),
    ]);
  }
  expect(await world.status("shop-1")).toBe("waiting_for_response");
  await world.jo.send("PATCH", "/pulls/1", { state: "closed" });
  await world.sync();
  expect(await world.ratchet("work", "complete", "shop-1")).toMatchObject({ code: 0 });

  // Done by somebody else while an agent works on it: there is nothing to open a pull request for.
  await world.add("shop-2");
  const complete = `RATCHET_HOME="${world.home}" "${process.execPath}" "${program}" work complete shop-2 --project shop`;
  const command = world.script("late.sh", `${agentScript}\n${complete}\n`);
  world.configure({ ...JSON.parse(world.read("ratchet.yaml")), agent: { type: "command", command } });
  expect(await world.ratchet("run", "shop-2")).toMatchObject({ stdout: expect.stringContaining("not pushed") });
  expect((await world.item("shop-2")).payload).toBeNull();
  expect(await world.status("shop-2")).toBe("completed");
});

test("P9 what only could not be pushed is pushed by the next run, and by pr sync: no agent is asked again", async () => {
  const world = await prWorld();
  await world.add("shop-1", { title: "Write it" });
  const origin = world.git("remote", "get-url", "origin");
  const away = () => world.git("remote", "set-url", "origin", "http://127.0.0.1:9/acme/shop.git");
  const back = () => world.git("remote", "set-url", "origin", origin);
  away();
  expect(await world.ratchet("run")).toMatchObject({ code: 3 });
  const head = world.git("--git-dir", join(world.home, "repos/shop.git"), "rev-parse", "ratchet/shop-1");
  back();
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect(turnsOf(world)).toEqual(["implementer implementer shop-1"]);
  expect(world.remoteGit("rev-parse", "ratchet/shop-1")).toBe(head);
  expect(await world.issue("shop-1")).toMatchObject({ status: "success", evidence_check: { passed: true } });
  expect(await world.item("shop-1")).toMatchObject({ status: "waiting_for_response", payload: { pr_number: 1 } });

  await world.reject(1, "Change it.");
  await world.sync();
  away();
  expect(await world.ratchet("run")).toMatchObject({ code: 3 });
  expect(await world.item(rework(1))).toMatchObject({ status: "available", failure_count: 0 });
  expect(turnsOf(world)).toHaveLength(1);
  back();
  // It goes away while the agent is at work.
  const mirror = join(world.home, "repos/shop.git");
  const unplug = `git --git-dir "${mirror}" config remote.origin.url http://127.0.0.1:9/acme/shop.git`;
  const settings = JSON.parse(world.read("ratchet.yaml"));
  const command = world.script("unplug.sh", `${agentScript}\n${unplug}\n`);
  world.configure({ ...settings, agent: { type: "command", command } });
  expect(await world.ratchet("run")).toMatchObject({ code: 3 });
  away();
  expect(await world.ratchet("pr", "sync")).toMatchObject({ code: 3, stderr: expect.stringContaining("not pushed") });
  back();
  expect(await world.ratchet("pr", "sync", "--json")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("pushed"),
  });
  expect(turnsOf(world)).toEqual(["implementer implementer shop-1", `rework rework ${rework(1)}`]);
  expect(world.remoteGit("show", "ratchet/shop-1:work.txt")).toContain(`again ${rework(1)}`);
  expect(await world.item(rework(1))).toMatchObject({ status: "completed" });
  expect((await world.items()).map(({ id }) => id)).toContain("review-shop-pr-1-cycle-1");
  expect((await world.comments(1)).filter(({ body }) => body.includes("addressed in"))).toHaveLength(1);

  // Its repository is gone for good: a person may end what waits in it, and nothing of it is left to do.
  world.env.GITHUB_TOKEN = "wrong";
  const forced = await world.ratchet("work", "complete", "shop-1", "--force");
  expect(forced).toMatchObject({ code: 0, stderr: expect.stringContaining("#1 is followed no longer") });
  expect((await world.items()).filter(({ status }) => status !== "completed")).toEqual([]);
  expect(await world.quick("pr", "list")).toContain("No pull requests are followed.");
});

/** Somebody else is faster, once; asked to merge, it merges. */
const slower = `${agentScript}
if [ -x "$HOME/faster" ]; then mv "$HOME/faster" "$HOME/was-faster"; "$HOME/was-faster"; fi
sha=$(sed -n 's/.*Merge \\([0-9a-f]\\{40\\}\\).*/\\1/p' "$HOME/prompt-$RATCHET_ISSUE_ID-$RATCHET_PROMPT_KIND" | head -n 1)
if [ -n "$sha" ]; then git add -A; git commit -qm more; git merge -q -m "Take over" "$sha"; fi
`;

test("P6 what a person pushed meanwhile is merged by the agent, never overwritten; the worktree is switched back", async () => {
  const world = await prWorld({ pull_requests: { max_rework_cycles: 9 } });
  const settings = JSON.parse(world.read("ratchet.yaml"));
  world.configure({ ...settings, agent: { type: "command", command: world.script("slower.sh", slower) } });
  await world.add("shop-1", { title: "Write it" });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  await world.reject(1, "Change it.");
  await world.sync();
  const clone = join(world.root, "hands");
  const faster = join(world.root, "faster");
  writeFileSync(
    faster,
    `#!/bin/sh
git clone -q --branch ratchet/shop-1 "$HOME/forge.git" "$HOME/hands" && cd "$HOME/hands" && echo mine > mine.txt &&
git add -A && git -c user.name=mo -c user.email=mo@localhost commit -qm "By hand" && git push -q origin ratchet/shop-1
`,
  );
  chmodSync(faster, 0o755);
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  const theirs = readFileSync(join(clone, ".git/refs/heads/ratchet/shop-1"), "utf8").trim();
  world.remoteGit("merge-base", "--is-ancestor", theirs, "ratchet/shop-1");
  expect(world.remoteGit("show", "ratchet/shop-1:work.txt")).toContain(`again ${rework(1)}`);
  expect(turnsOf(world).at(-1)).toBe(`rework gate_followup ${rework(1)}`);
  const followup = readFileSync(join(world.root, `prompt-${rework(1)}-gate_followup`), "utf8");
  expect(followup).toContain(`## First merge ratchet/shop-1`);

  // Left on another branch, and the branch is gone from the forge.
  const path = String((await world.item("shop-1")).payload?.worktree_path);
  execFileSync("git", ["checkout", "--quiet", "-b", "elsewhere"], { cwd: path, env: world.env });
  await world.reject(1, "Once more.");
  await world.sync();
  world.remoteGit("branch", "-D", "ratchet/shop-1");
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect((await world.events()).map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^Rework: switched the worktree at .* to ratchet\/shop-1$/),
  );
  expect(world.remoteGit("show", "ratchet/shop-1:work.txt")).toContain(`again ${rework(2)}`);

  // Merged while the agent was at work: nothing is pushed any more, and nothing is left open.
  await world.reject(1, "And again.");
  await world.sync();
  const merged = world.remoteGit("rev-parse", "ratchet/shop-1");
  const { token } = world.jo;
  const asked = JSON.stringify({ method: "PUT", headers: { authorization: `Bearer ${token}` }, body: "{}" });
  const merging = `fetch("${world.server.url}/repos/acme/shop/pulls/1/merge", ${asked}).then((r) => process.exit(r.ok ? 0 : 1))`;
  writeFileSync(faster, `#!/bin/sh\nexec "${process.execPath}" -e '${merging}'\n`);
  chmodSync(faster, 0o755);
  await world.ratchet("run");
  expect(world.remoteGit("rev-parse", "ratchet/shop-1")).toBe(merged);
  expect(await world.issue(rework(3))).toMatchObject({ status: "interrupted", error: "closed" });
  expect((await world.items()).filter(({ status }) => status !== "completed")).toEqual([]);
});

test("what mode branch has left unmerged is waited for in mode pr, too; a fetched branch of a squashed pull request is not", async () => {
  const world = await prWorld();
  const config = JSON.parse(world.read("ratchet.yaml"));
  const more = (dep: string) => ({ more: ["--dep", dep] });
  await world.add("one");
  await world.add("two", more("one"));
  await world.add("three", more("two"));
  world.script("agent.sh", 'cat >/dev/null; echo x >"$RATCHET_ISSUE_ID.txt"; git add -A; git commit -qm Did\n');
  world.configure({ ...config, finalize: { mode: "branch" } });
  expect((await world.ratchet("run")).code).toBe(0);
  world.configure(config);
  const waits = "nothing is ready: two waits for ratchet/one, which is not merged yet (ratchet land one)\n";
  expect(await world.ratchet("run")).toMatchObject({ code: 0, stderr: waits });
  expect([await world.status("one"), await world.status("two")]).toEqual(["completed", "available"]);
  world.git("merge", "--quiet", "ratchet/one");
  world.git("push", "--quiet", "origin", "main");
  expect((await world.ratchet("run")).code).toBe(0);
  expect(world.remoteGit("ls-tree", "--name-only", "ratchet/two")).toMatch(/one.txt\ntwo.txt/);
  world.git("fetch", "--quiet", "origin", "ratchet/two:ratchet/two");
  await world.jo.send("PUT", "/pulls/1/merge", { merge_method: "squash" });
  expect((await world.ratchet("run")).code).toBe(0);
  expect([await world.status("two"), await world.status("three")]).toEqual(["completed", "waiting_for_response"]);
});
