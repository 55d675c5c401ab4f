import { readFileSync, rmSync } from "node:fs";
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

test("another defect without a title and a file is not the one that was rejected", async () => {
  const box = sandbox();
  const untitled = (body: string) => `{"priority": 0, "body": "${body}"}`;
  const script = `
cat >/dev/null
case $RATCHET_ATTEMPT in
  1) found='${untitled("two logins race")}, ${finding("A file is never closed")}' ;;
  2) found='${finding("A file is never closed")}' ;;
  *) found='${untitled("passwords are logged")}' ;;
esac
echo "{\\"verdict\\": \\"fail\\", \\"findings\\": [$found]}"
`;
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("reviewer.sh", script) },
  });
  await box.add("one");
  const run = await box.ratchet("run", "--json");
  const events = eventsOf(run);
  expect(events.flatMap((event) => (event.type === "finding-rejected" ? [event.title] : []))).toEqual([
    "two logins race",
    "A file is never closed",
  ]);
  expect(await box.issue("one")).toMatchObject({
    status: "failed",
    last_review_issues: [{ title: "passwords are logged", body: "passwords are logged", file: "unknown" }],
  });
});

/** Only objects, or breaks the gate besides; its reviewer insists until it has read the objection, or is deaf. */
const objector = `
prompt=$(cat)
if [ "$RATCHET_PROMPT_KIND" = implementer ]; then echo x >work.txt; git add work.txt; git commit -qm Work; exit 0; fi
echo "FINDING_REJECTED: $(printf '%s' "$prompt" | grep -oE 'id [0-9a-f]{16}' | head -1 | cut -c4-) the importer needs it"
[ ! -e "$HOME/breaks" ] || { mv "$HOME/breaks" "$HOME/broken"; echo y >>work.txt; git commit -qam More; }
`;
const listener = `
if grep -q "the importer needs it" && [ ! -e "$HOME/deaf" ]; then echo '{"verdict": "pass", "findings": []}'
else echo '{"verdict": "fail", "findings": [${finding("Bad")}]}'; fi
`;
const objectorBox = async () => {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", objector) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("reviewer.sh", listener) },
    commands: { check: 'test ! -e "$HOME/broken"' },
    evidence_check: { required: ["check"] },
    max_gate_retries: 1,
  });
  await box.add("one");
  return box;
};

test("an implementer that rejects what blocks and changes nothing is read by its reviewer, who decides", async () => {
  const box = await objectorBox();
  const run = await box.ratchet("run");
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("the importer needs it")]);
  expect(await box.issue("one")).toMatchObject({ status: "success", review_attempts: 2 });
});

test("A8 the reviewer has insisted, and the same is only said again: no progress, in a resume too", async () => {
  const box = await objectorBox();
  box.put("deaf", "");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("one")).toMatchObject({ error: "no_progress", review_attempts: 2 });
  expect((await box.ratchet("run", "--resume")).code).toBe(1);
  expect(await box.issue("one")).toMatchObject({ error: "no_progress", review_attempts: 0 });
});

test("an objection that no reviewer has read is in the prompt of a later life's review, with --check-only too", async () => {
  const box = await objectorBox();
  box.put("breaks", "");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("one")).toMatchObject({ error: "gate_failed", review_attempts: 1 });
  rmSync(join(box.root, "broken"));
  expect((await box.ratchet("run", "--resume", "--check-only")).code).toBe(0);
  const all = JSON.parse(await box.quick("findings", "one", "--all", "--json"));
  expect(all[0]).toMatchObject({ title: "Bad", status: "resolved", reason: "rejected: the importer needs it" });
});
