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
