import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { expectNothingLeft } from "./kill-loop.js";
import { sandbox } from "./sandbox.js";

const ids = Array.from({ length: 8 }, (_, index) => `item-${index}`);

const agent = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID $RATCHET_RUN_ID" >>"$HOME/starts.log"
sleep 0.2
echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

test("two runs at once on one repository do every issue once", async () => {
  const box = sandbox();
  box.configure({
    commands: { check: 'test -e "$RATCHET_ISSUE_ID.txt"' },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: box.script("agent.sh", agent) },
    max_agents: 2,
  });
  for (const id of ids) await box.add(id);
  const runs = [box.start(["run", "--json"]), box.start(["run", "--json"])];
  const ended = await Promise.all(runs.map((run) => run.ended));
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  const starts = readFileSync(join(box.root, "starts.log"), "utf8").trim().split("\n");
  expect(starts.map((line) => line.split(" ")[0]).sort()).toEqual([...ids].sort());
  for (const id of ids) expect(await box.status(id)).toBe("completed");
  expect(box.git("ls-tree", "--name-only", "main").split("\n").sort()).toEqual(
    ["README.md", ...ids.map((id) => `${id}.txt`)].sort(),
  );
  expect(box.git("log", "--no-merges", "--format=%s", "main").split("\n").sort()).toEqual(
    ["The beginning", ...ids.map((id) => `Work on ${id}`)].sort(),
  );
  expect(box.git("status", "--porcelain")).toBe("");
  await expectNothingLeft(box);
});
