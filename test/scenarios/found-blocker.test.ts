import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "../contract/beads-world.js";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

/**
 * Builds on what `lib` makes: where it is missing, its first turn ends as `fails` says, once `lib` is what it waits for.
 * `lib` is done after that.
 */
function useAgent(box: Sandbox, fails: string, { libWaitsFor = "failed" } = {}): void {
  const text = `
if [ "$RATCHET_ISSUE_ID" = lib ]; then
  while [ ! -e ${box.root}/${libWaitsFor} ]; do sleep 0.05; done
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

test("C8 in beads, too, an issue that failed for want of another is begun again when that is closed, in the same run", async () => {
  const box = sandbox();
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  for (const id of ["one", "lib"]) await beads.add({ id });
  useAgent(box, "exit 9", { libWaitsFor: "told" });
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), tracker: { type: "beads" } });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const run = box.start(["run", "--json"], { env });
  await until("both are worked on", () => run.stdout().match(/"prompt-sent"/g)?.length === 2);
  beads.change(({ issues }) => Object.assign(issues[0] ?? {}, { deps: ["lib"] }));
  writeFileSync(join(box.root, "waits"), "");
  await until("beads knows that it has failed", () => run.stdout().includes('"issue-finished"'));
  writeFileSync(join(box.root, "told"), "");
  expect((await run.ended).code).toBe(0);
  expect((await box.record()).issues.one).toMatchObject({ status: "success" });
  expect(beads.issue("one")).toMatchObject({ status: "closed", labels: [] });
});
