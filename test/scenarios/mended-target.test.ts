import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, sandbox } from "./sandbox.js";

/** Commits to the branch that the user is on, as they do who mend what made an issue fail. */
function commit(box: Sandbox, path: string, text: string): string {
  box.write(path, text);
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", `Put ${path} there`);
  return box.git("rev-parse", "HEAD");
}

const works = 'cat >/dev/null; echo done >>"$RATCHET_ISSUE_ID.txt"; git add -A; git commit -q -m Work';

test.each([
  ["the agent, for run --resume", "agent.sh", works, ["run", "--resume"]],
  ["the agent, for a run after retry", "agent.sh", works, ["run"]],
  ["what setup needs, for run --resume", "setup.sh", "true", ["run", "--resume"]],
])("where nothing was done yet, what is mended on the target is there: %s", async (_, missing, text, args) => {
  const box = sandbox();
  if (missing === "setup.sh") commit(box, "agent.sh", works);
  box.configure({ agent: { type: "command", command: ["sh", "agent.sh"] }, commands: { setup: "sh setup.sh" } });
  if (missing === "agent.sh") commit(box, "setup.sh", "true");
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  const mended = commit(box, missing, text);
  await box.quick("retry", "one");
  const run = await box.ratchet(...args);
  expect(run.stdout).toContain(`Nothing was done yet, and main has moved on: it starts anew at ${mended.slice(0, 12)}`);
  expect(run.code).toBe(0);
  expect(await box.issue("one")).toMatchObject({ status: "success", base_sha: mended });
});

test("a target that no longer has what the work began from is not advised to be merged", async () => {
  const { box } = await mendedSuite();
  expect(await box.quick("explain", "one")).toContain("main has 1 commit");
  box.git("reset", "--quiet", "--hard", "HEAD~2");
  commit(box, "suite.sh", "exit 0");
  expect(await box.quick("explain", "one")).not.toContain("main has");
});

test("what git ignores in a worktree that is made anew is in the new one, also what a person put there", async () => {
  const box = sandbox();
  commit(box, ".gitignore", ".env\ncache/\nnew\n");
  const setup = "mkdir -p cache; echo x >>cache/x; test -e .env";
  box.configure({ agent: { type: "command", command: box.script("agent.sh", works) }, commands: { setup } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  const { worktree_path: worktree } = await box.issue("one");
  writeFileSync(join(worktree ?? "", ".env"), "by hand\n");
  writeFileSync(join(worktree ?? "", "new"), "by hand\n");
  box.write("new", "of the target\n");
  box.git("add", "--all", "--force");
  box.git("commit", "--quiet", "--message", "Keep new");
  const seen = `cp .env cache/x new "$HOME"; ${works}`;
  box.configure({ agent: { type: "command", command: box.script("agent.sh", seen) }, commands: { setup } });
  const run = await box.ratchet("run", "--resume");
  expect(run.stdout).toContain("it starts anew at");
  expect(run.code).toBe(0);
  const texts = [".env", "x", "new"].map((name) => readFileSync(join(box.root, name), "utf8"));
  expect(texts).toEqual(["by hand\n", "x\nx\n", "of the target\n"]);
  // What cannot come back is kept beside it, and told.
  expect(run.stdout).toMatch(/one\.aside-[0-9a-f]{8}/);
});

const suite = { commands: { suite: "sh suite.sh" }, evidence_check: { required: ["suite"] }, max_gate_retries: 1 };

/** The suite of the target was broken, and its user has mended it since the issue failed for that. */
async function mendedSuite(agent = works): Promise<{ readonly box: Sandbox; readonly mended: string }> {
  const box = sandbox();
  commit(box, "suite.sh", "exit 1");
  const review = { enabled: true, reviewer_type: "command", command: box.script("review.sh", `${noteBase}${passes}`) };
  box.configure({
    ...suite,
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: review,
  });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.quick("explain", "one")).not.toContain("main has");
  return { box, mended: commit(box, "suite.sh", "exit 0") };
}
const noteBase = 'cat >/dev/null; echo "$RATCHET_BASE_SHA" >>"$HOME/bases"\n';
const passes = `echo '{"verdict": "pass", "findings": []}'`;

test("of work that failed, explain and logs show say what the target has that it has not, and how it gets there", async () => {
  const { box, mended } = await mendedSuite();
  const { worktree_path: worktree } = await box.issue("one");
  const merge = `git -C ${worktree} merge ${mended.slice(0, 12)}`;
  const line = `main has 1 commit that this work has not: merge it with \`${merge}\`, or begin anew from there with \`ratchet retry one --afresh\``;
  for (const args of [
    ["explain", "one"],
    ["logs", "show", "last"],
  ])
    expect(await box.quick(...args)).toContain(line);
  expect(JSON.parse(await box.quick("explain", "one", "--json"))).toMatchObject({ meanwhile: line });
  execFileSync("sh", ["-c", merge], { env: box.env });
  for (const args of [
    ["explain", "one"],
    ["logs", "show", "last"],
  ])
    expect(await box.quick(...args)).not.toContain("main has");
  expect((await box.ratchet("run", "--resume", "--check-only")).code).toBe(0);
  expect(await box.quick("logs", "show", "last")).not.toContain("main has");
});

test("C8 a resumed agent is told what the target has by now, and what it merges of that is not reviewed as the issue's", async () => {
  const asked = "tip=$(grep -o 'git merge [0-9a-f]*' | cut -d' ' -f3); [ -z \"$tip\" ] || git merge -q \"$tip\"; ";
  const { box, mended } = await mendedSuite(asked + works);
  const { base_sha } = await box.issue("one");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(await box.quick("logs", "prompt", "last", "one", "01")).toContain(
    `\`main\` has moved on and has 1 commit that is not in this work: where that helps, run \`git merge ${mended}\``,
  );
  expect(await box.issue("one")).toMatchObject({ status: "success", base_sha, review_base: mended });
  expect(readFileSync(join(box.root, "bases"), "utf8")).toBe(`${mended}\n`);
});
