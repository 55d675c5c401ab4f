import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, eventsOf, sandbox } from "./sandbox.js";

/** Objects to the first finding of every review, and changes something else, so that there is progress. */
const agent = `
prompt=$(cat)
echo "$RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >> work.txt
git add work.txt && git commit -qm "Work"
id=$(printf '%s\\n' "$prompt" | sed -n 's/.*id \\([0-9a-z-]*\\).*/\\1/p' | head -1)
[ "$RATCHET_PROMPT_KIND" != review_followup ] || echo "FINDING_REJECTED: $id it is checked three lines above"
`;
const finding = (title: string) =>
  `{"file": "work.txt", "line_start": 1, "line_end": 1, "priority": 1, "title": "${title}", "body": "b"}`;
/** Drops its first finding after the objection, and comes back with it in the third round. */
const reviewer = `
cat >/dev/null
case $RATCHET_ATTEMPT in
  2) found='${finding("A file is never closed")}' ;;
  *) found='${finding("Null may be dereferenced")}' ;;
esac
echo "{\\"verdict\\": \\"fail\\", \\"findings\\": [$found]}"
`;

test("a finding that was rejected and dropped is remembered, and does not block when it is only said again", async () => {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("reviewer.sh", reviewer) },
  });
  await box.add("one");
  const run = await box.ratchet("run", "--json");
  expect(run.code, run.stdout).toBe(0);
  const events = eventsOf(run);
  expect(events.flatMap((event) => (event.type === "finding-rejected" ? [event.title] : []))).toEqual([
    "Null may be dereferenced",
    "A file is never closed",
  ]);
  expect(events.flatMap((event) => (event.type === "review-ended" ? [event.verdict] : []))).toEqual([
    "fail",
    "fail",
    "pass",
  ]);
  const { run_id } = await box.record();
  const last = attemptsOf(box, run_id, "one").findLast((folder) => folder.includes("-review-command")) ?? "";
  const prompt = readFileSync(join(box.home, "runs", run_id, "one", last, "prompt.md"), "utf8");
  expect(prompt).toContain("## Settled");
  expect(prompt).toContain("Null may be dereferenced: rejected: it is checked three lines above");
});
