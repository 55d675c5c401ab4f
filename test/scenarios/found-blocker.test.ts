import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

/** Builds on what `lib` makes: where it is missing, its first turn ends as `fails` says, once `lib` is what it waits for. */
function useAgent(box: Sandbox, fails: string): void {
  const text = `
if [ "$RATCHET_ISSUE_ID" = lib ]; then
  while [ ! -e ${box.root}/failed ]; do sleep 0.05; done
elif [ ! -e lib.txt ] && [ ! -e ${box.root}/failed ]; then
  while [ ! -e ${box.root}/waits ]; do sleep 0.05; done
  touch ${box.root}/failed; ${fails}
fi
echo "$RATCHET_ISSUE_ID" > "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did $RATCHET_ISSUE_ID"
`;
  box.configure({ agent: { type: "command", command: box.script("agent", text) }, max_agents: 2 });
}

async function runWithBlocker(box: Sandbox) {
  await box.add("one");
  await box.add("lib");
  const run = box.start(["run", "--json"]);
  await until("both are worked on", () => run.stdout().match(/"prompt-sent"/g)?.length === 2);
  await box.ratchet("work", "dep", "one", "--on", "lib");
  writeFileSync(join(box.root, "waits"), "");
  const ended = await run.ended;
  const bases = eventsOf(ended).flatMap((event) =>
    event.type === "worktree-ready" && event.issue_id === "one" ? [event.base_sha] : [],
  );
  return { ended, bases };
}

test("an issue that failed for want of another, and left nothing, begins anew with it once it has landed", async () => {
  const box = sandbox();
  useAgent(box, "exit 9");
  const { ended, bases } = await runWithBlocker(box);
  const { issues } = await box.record();
  expect(ended.code).toBe(0);
  expect(bases).toEqual([box.git("rev-parse", "HEAD~2"), issues.lib?.commit]);
  expect(issues.one).toMatchObject({ status: "success", base_sha: issues.lib?.commit });
});

test("C8 work that such an issue has left stays, on the base that it was begun from", async () => {
  const box = sandbox();
  useAgent(box, "echo half > half.txt; exit 9");
  const { ended, bases } = await runWithBlocker(box);
  expect(ended.code).toBe(0);
  expect(new Set(bases).size).toBe(1);
  expect(box.git("show", "HEAD:half.txt")).toBe("half");
});
