import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, eventsOf, type Sandbox, sandbox } from "./sandbox.js";

/** Commits something new in every turn but those of issues that give up after the first. */
const agent = `
cat >/dev/null
case $RATCHET_PROMPT_KIND/$RATCHET_ISSUE_ID in
  review_followup/gives-up*) echo "I have fixed it."; exit 0 ;;
  review_followup/touches*) touch "$RATCHET_ISSUE_ID.txt"; exit 0 ;;
  review_followup/empty-commit*) git commit --quiet --allow-empty --message "Nothing"; exit 0 ;;
esac
echo "$RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >>"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

const remark = '{"file": "a.txt", "line_start": 3, "line_end": 4, "priority": 1, "title": "Wrong", "body": "It is."}';

function withReviewer(reviewer: string, more: object = {}): Sandbox {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    max_agents: 4,
    per_issue_review: {
      enabled: true,
      reviewer_type: "command",
      command: box.script("review.sh", reviewer),
      ...more,
    },
  });
  return box;
}

async function expectNotLanded(box: Sandbox, id: string): Promise<void> {
  expect(box.git("ls-tree", "--name-only", "main")).not.toContain(id);
  expect(await box.status(id)).toBe("failed");
}

test("A8 an agent that changes nothing after a blocking review has failed, and the finding is kept", async () => {
  const box = withReviewer(`cat >/dev/null; echo '{"verdict": "fail", "findings": [${remark}]}'`);
  const ids = ["gives-up", "touches", "empty-commit"];
  for (const id of ids) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(1);
  const { issues, run_id } = await box.record();
  for (const id of ids) {
    expect(issues[id], id).toMatchObject({
      status: "failed",
      error: "no_progress",
      message: expect.stringMatching(/no progress/i),
      review_attempts: 1,
      gate_attempts: 1,
      commit: null,
      last_review_issues: [
        {
          file: "a.txt",
          line_start: 3,
          line_end: 4,
          priority: 1,
          title: "Wrong",
          body: "It is.",
          reviewer: "command",
        },
      ],
    });
    await expectNotLanded(box, id);
    expect(
      attemptsOf(box, run_id, id).filter((name) => name.includes("review-")),
      id,
    ).toHaveLength(1);
  }
});

/** Each of them would be taken for a pass by somebody who only looks for findings. */
const unusable: Readonly<Record<string, string>> = {
  crashes: "kill -9 $$",
  "crashes-late": `echo '{"verdict": "pass", "findings": []}'; kill -9 $$`,
  "is-interrupted": `echo '{"verdict": "pass", "findings": []}'; kill -INT $$`,
  "is-terminated": "kill -TERM $$",
  "loses-its-shim": `kill -9 $PPID; sleep 60`,
  "says-nothing": "exit 0",
  "says-no-verdict": "echo 'Looks good to me!'",
  "prints-broken-json": `echo '{"verdict": "pass", "findings": ['`,
  "is-cut-off": `echo '{"verdict": "pass", "findings": []} no wait: {"verdict": "fail", "findings": [{"title": "x"'`,
  "repeats-its-prompt": 'cat "$(dirname "$RATCHET_RESULT_FILE")/prompt.md"',
  "gives-no-priority": `echo '{"verdict": "fail", "findings": [{"title": "x", "priority": "critical"}]}'`,
  "gives-another-word": `echo '{"verdict": "approved", "findings": []}'`,
  "fails-without-finding": `echo '{"verdict": "fail", "findings": []}'`,
  "writes-broken-json": `echo '{"verdict": "pa' >"$RATCHET_RESULT_FILE"`,
  "exits-1": `echo '{"verdict": "pass", "findings": []}'; exit 1`,
  "exits-66": `echo '{"verdict": "pass", "findings": []}'; exit 66`,
  "changes-the-tree": `echo mine >>README.md; echo '{"verdict": "pass", "findings": []}'`,
  commits: `git commit --quiet --allow-empty --message Mine; echo '{"verdict": "pass", "findings": []}'`,
};

test("A8 a review that crashes, is interrupted or gives no usable verdict is never a pass", async () => {
  const cases = Object.entries(unusable).map(([name, text]) => `  ${name}) ${text} ;;`);
  const box = withReviewer(`cat >/dev/null\ncase $RATCHET_ISSUE_ID in\n${cases.join("\n")}\nesac\n`);
  for (const id of Object.keys(unusable)) await box.add(id);
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(1);
  const { issues, run_id } = await box.record();
  for (const id of Object.keys(unusable)) {
    expect(issues[id], id).toMatchObject({ status: "failed", error: "review_unavailable", commit: null });
    expect(issues[id]?.last_review_issues ?? null, id).toBeNull();
    await expectNotLanded(box, id);
    const verdicts = eventsOf(run).flatMap((event) =>
      event.type === "review-ended" && event.issue_id === id ? [event.verdict] : [],
    );
    expect(verdicts, id).toEqual(["protocol", "protocol", "protocol"]);
    const reviews = attemptsOf(box, run_id, id).filter((name) => name.includes("review"));
    // One that is lost may go on in a folder of its own before its word is given up.
    if (id !== "loses-its-shim") expect(reviews, id).toHaveLength(3);
    expect(
      attemptsOf(box, run_id, id).filter((name) => name.includes("followup")),
      id,
    ).toEqual([]);
  }
});

test("A8 a reviewer that takes too long is never a pass, and nothing of it goes on", { timeout: 120_000 }, async () => {
  const box = withReviewer(`cat >/dev/null; echo '{"verdict": "pass", "findings": []}'; setsid sleep 600; sleep 600`, {
    agent_sdk_timeout: 1,
  });
  await box.add("waits");
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("waits")).toMatchObject({ status: "failed", error: "review_unavailable" });
  await expectNotLanded(box, "waits");
  expect(box.processes()).toEqual([]);
});

test("A8 a blocking finding survives when the next round's reviewer gives no verdict", async () => {
  const box = withReviewer(
    `cat >/dev/null; [ "$RATCHET_ATTEMPT" = 1 ] && echo '{"verdict": "fail", "findings": [${remark}]}'; exit 0`,
  );
  await box.add("reviewed");
  expect((await box.ratchet("run")).code).toBe(1);
  const issue = await box.issue("reviewed");
  expect(issue).toMatchObject({ status: "failed", error: "review_unavailable" });
  expect(issue.last_review_issues).toMatchObject([{ title: "Wrong", priority: 1 }]);
  await expectNotLanded(box, "reviewed");
  const open: { title: string; status: string }[] = JSON.parse(await box.quick("findings", "--json"));
  expect(open.filter(({ title }) => title === "Wrong")).toMatchObject([{ status: "open" }]);
});

test("A8 one transient reviewer failure is waited out and the verdict then counts", async () => {
  const box = withReviewer(`
cat >/dev/null
if [ -e "$HOME/asked" ]; then echo '{"verdict": "pass", "findings": []}'; else : >"$HOME/asked"; exit 75; fi
`);
  await box.add("waited-for");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(existsSync(join(box.root, "asked"))).toBe(true);
  expect(await box.issue("waited-for")).toMatchObject({ status: "success", review_attempts: 1 });
});

test("A8 what a reviewer that crashed had changed is gone before the next try, whose verdict then counts", async () => {
  const meddles = "echo x >left.txt; git add left.txt; git commit --quiet --message meddled; echo y >more.txt; exit 3";
  const box = withReviewer(`cat >/dev/null
    git log -1 --format=%s >>"$HOME/seen"; git status --short >>"$HOME/seen"
    if [ ! -e "$HOME/tried" ]; then touch "$HOME/tried"; ${meddles}; fi
    echo '{"verdict": "pass", "findings": []}'`);
  await box.add("one");
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(0);
  const verdicts = eventsOf(run).flatMap((event) => (event.type === "review-ended" ? [event.verdict] : []));
  expect(verdicts).toEqual(["protocol", "pass"]);
  expect(box.read("../seen")).toBe("Work on one\nWork on one\n");
});
