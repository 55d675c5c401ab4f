import { rmSync } from "node:fs";
import { expect, test } from "vitest";
import { type Sandbox, sandbox } from "./sandbox.js";

/** A repository with an issue that has landed on a branch of this name. */
async function landedOn(branch: string): Promise<Sandbox> {
  const box = sandbox();
  const agent = `
cat >/dev/null
[ ! -e "$HOME/halt" ] || { echo half >half.txt; git add -A; git commit -q -m Half; exit 9; }
echo done >>"$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did $RATCHET_ISSUE_ID"
`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await landOn(box, branch, "one");
  return box;
}

async function landOn(box: Sandbox, branch: string, issue: string) {
  box.git("checkout", "--quiet", "-b", branch, "main");
  await box.add(issue);
  const run = await box.ratchet("run");
  expect(run.stdout + run.stderr).toContain(`${issue}: landed on ${branch} as`);
  expect(run.code).toBe(0);
  return run;
}

const ours = (box: Sandbox) =>
  box.git("for-each-ref", "--format=%(refname)", "refs/ratchet").split("\n").filter(Boolean);

test.each([
  ["feat", "feat/x"],
  ["feat/x", "feat"],
  ["feat/x/y", "feat"],
])("D5 after %s was merged and deleted work lands on %s, and on the first one again", async (first, second) => {
  const box = await landedOn(first);
  for (const [gone, next, issue] of [
    [first, second, "two"],
    [second, first, "three"],
  ] as const) {
    box.git("checkout", "--quiet", "main");
    box.git("merge", "--quiet", gone);
    box.git("branch", "--quiet", "--delete", gone);
    if (issue === "three") box.git("pack-refs", "--all");
    const run = await landOn(box, next, issue);
    expect(run.stderr).toContain(`the branch ${gone} is gone, and ${next} takes its place\n`);
    expect(ours(box)).toEqual([`refs/ratchet/landed/${next}`]);
    expect(box.git("rev-parse", `refs/ratchet/landed/${next}`)).toBe(box.git("rev-parse", next));
  }
  expect((await box.ratchet("run")).stderr).not.toContain("takes its place");
});

test.each([
  ["feat", "feat/x"],
  ["feat/x", "feat"],
])("D5 what landed on %s and is on no branch is kept and named when %s takes its place", async (first, second) => {
  const box = await landedOn(first);
  const end = box.git("rev-parse", first);
  box.git("checkout", "--quiet", "main");
  box.git("branch", "--quiet", "-D", first);
  const run = await landOn(box, second, "two");
  expect(run.stderr).toContain(
    `what landed on it is on no branch of yours, run \`git branch NAME ${end.slice(0, 12)}\``,
  );
  expect(box.git("ls-tree", "--name-only", second).split("\n")).not.toContain("one.txt");
  box.git("reflog", "expire", "--expire=now", "--all");
  box.git("gc", "--quiet", "--prune=now");
  box.git("branch", "again", end.slice(0, 12));
  expect(box.git("ls-tree", "--name-only", "again").split("\n")).toContain("one.txt");
});

test("D5 work that was begun on what landed there does not bring it onto the branch that took its place", async () => {
  const box = await landedOn("feat");
  const end = box.git("rev-parse", "feat").slice(0, 12);
  const halt = box.put("halt", "");
  await box.add("two");
  expect((await box.ratchet("run")).code).toBe(1);
  rmSync(halt);
  box.git("checkout", "--quiet", "main");
  box.git("branch", "--quiet", "-D", "feat");
  box.git("checkout", "--quiet", "-b", "feat/x");
  const run = await box.ratchet("run", "--resume");
  expect(run.code).toBe(1);
  expect(run.stdout).toContain(`it was built on ${end} of feat, which feat/x does not have`);
});
