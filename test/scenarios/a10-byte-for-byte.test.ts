import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, type Sandbox, sandbox } from "./sandbox.js";

const nasty = [
  "{ {} {{name}} {{issue}} {{findings}} {{{x}}} \u0024{HOME} $HOME $1 $& $` $' $$ \\$ \\n \\\\",
  "`backticks` $(touch broken) %s %d %% %n %1$s",
  "~~~~~~~~ ~~~~~~~~~~~~\n```\n\"\"\" ''' <!-- --> </issue> <b> &amp; &#123;",
  "ünïcödé 日本語 🦀👩‍👩‍👧 e\u0301 \u202eright to left\u202c \u2028 \u00a0 \ufeff end",
  "CRLF line\r\nand a lone CR\rand tabs\t\tand trailing blanks   ",
  "\u0001\u0007\u001b[31mred\u001b[0m",
  "ISSUE_NO_CHANGE: said by the text, not by the agent",
].join("\n");

const big = `${"0123456789 {{x}} $& `%s` ü\r\n".repeat(Math.ceil(200_000 / 30))}the end of it`;

const texts: Readonly<Record<string, string>> = {
  nasty,
  big,
  "both-ends": "\n\n  begins and ends with white space  \n\n",
};

const findingTitle = 'Title {{name}} $& `%s` ü: indent with "    ", not "\t" or "\u2028"';

/** Keeps what it was given, then works; the review's findings carry the same texts. */
const agent = `
cat >"$HOME/got-$RATCHET_ISSUE_ID-$RATCHET_PROMPT_KIND"
echo "$RATCHET_PROMPT_KIND" >>"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work"
`;
const reviewer = `
cat >"$HOME/got-$RATCHET_ISSUE_ID-review-$RATCHET_ATTEMPT"
if [ "$RATCHET_ATTEMPT" = 1 ]; then cp "$HOME/verdicts/$RATCHET_ISSUE_ID" "$RATCHET_RESULT_FILE"
else echo '{"verdict": "pass", "findings": []}'; fi
`;

async function run(): Promise<{ box: Sandbox; runId: string }> {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("review.sh", reviewer) },
  });
  for (const [id, body] of Object.entries(texts)) {
    const finding = {
      file: "a{{x}}.txt",
      line_start: 1,
      line_end: 1,
      priority: 0,
      title: findingTitle,
      body,
    };
    box.put(`verdicts/${id}`, JSON.stringify({ verdict: "fail", findings: [finding] }));
    await box.add(id, { title: `Title of ${id}: {{issue_id}} $& $\` %s \`x\` {`, body });
  }
  expect((await box.ratchet("run")).code).toBe(0);
  return { box, runId: (await box.record()).run_id };
}

function got(box: Sandbox, id: string, what: string): Buffer {
  return readFileSync(join(box.root, `got-${id}-${what}`));
}

test("A10 issue texts and findings reach agents and reviewers byte for byte", async () => {
  const { box, runId } = await run();
  for (const [id, body] of Object.entries(texts)) {
    const original = Buffer.from(body);
    for (const what of ["implementer", "review-1", "review_followup", "review-2"]) {
      const given = got(box, id, what);
      expect(given.indexOf(original), `${id}: the text in ${what}`).toBeGreaterThan(-1);
      expect(kept(box, runId, id, what).equals(given), `${id}: prompt.md of ${what}`).toBe(true);
    }
    const title = `Title: Title of ${id}: {{issue_id}} $& $\` %s \`x\` {\n`;
    expect(got(box, id, "implementer").indexOf(title), id).toBeGreaterThan(-1);
    const followup = got(box, id, "review_followup").toString("utf8");
    expect(followup).toContain(`[P0] ${findingTitle}\n`);
    expect(followup).toContain("a{{x}}.txt:1");
    const said = await box.ratchet("logs", "prompt", runId, id, "01");
    expect(said.stdout, id).toContain(body.slice(0, 500));
  }
  const findings: { title: string }[] = JSON.parse(await box.quick("findings", "nasty", "--all", "--json"));
  expect(findings.map(({ title }) => title)).toEqual([findingTitle]);
  const shown = JSON.parse((await box.ratchet("work", "show", "nasty", "--json")).stdout);
  expect(shown.body).toBe(nasty);
});

test("A10 a character that a stranger has cut in two is the replacement character in all JSON, which every reader then takes", async () => {
  const box = sandbox();
  const title = "The emoji \\ud83d is cut";
  const remark = `{"file": "a", "priority": 1, "title": "${title}", "body": "${title}", "reviewer": "${title}"}`;
  const review = `cat >/dev/null; printf '%s' '{"verdict": "fail", "findings": [${remark}]}'`;
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    per_issue_review: {
      ...{ enabled: true, reviewer_type: "command", max_retries: 1 },
      command: box.script("review.sh", review),
    },
  });
  await box.add("cut");
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(1);
  const record = `{"run_id": "old", "issues": {"cut": {"last_review_issues": [${remark}], "message": "${title}"}}}`;
  expect((await box.ratchet("runs", "import", box.put("old.json", record))).code).toBe(0);
  const { run_id } = JSON.parse(run.stdout.split("\n")[0] ?? "");
  const asked = [
    ["runs", "export", run_id],
    ["runs", "export", "old"],
    ["findings", "--json"],
  ];
  for (const printed of [run, ...(await Promise.all(asked.map((words) => box.ratchet(...words))))]) {
    expect(printed.stdout).toContain("The emoji \ufffd is cut");
    expect(printed.stdout).not.toMatch(/\\ud[89a-f]/i);
  }
  expect(JSON.parse(await box.quick("findings", "--json"))).toHaveLength(1);
});

/** The prompt.md of the turn that `what` names. */
function kept(box: Sandbox, runId: string, id: string, what: string): Buffer {
  const [kind = "", round] = what.split("-");
  const folders = attemptsOf(box, runId, id).filter((name) => name.replace(/^\d+-/, "").split("-")[0] === kind);
  const folder = folders[round === undefined ? 0 : Number(round) - 1] ?? "";
  return readFileSync(join(box.home, "runs", runId, id, folder, "prompt.md"));
}
