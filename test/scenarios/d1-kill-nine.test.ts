import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { rounds } from "../rounds.js";
import {
  chance,
  expectNothingLeft,
  expectOneStartPerAttempt,
  expectOneStory,
  freshSeed,
  killUntilDone,
  outcomeOf,
} from "./kill-loop.js";
import { type Sandbox, sandbox } from "./sandbox.js";

const ids = Array.from({ length: 10 }, (_, index) => `issue-${index}`);

/** Its number decides what an issue is like: well done at once, a gate retry, a review round, both, or never good. */
const agent = `
echo "$RATCHET_ISSUE_ID $RATCHET_PROMPT_KIND $RATCHET_ATTEMPT $(dirname "$RATCHET_RESULT_FILE")" >>"$1"
prompt=$(cat)
sleep 0.$(( $$ % 4 ))
file=$RATCHET_ISSUE_ID.txt
word="good clean"
case $RATCHET_PROMPT_KIND/$RATCHET_ISSUE_ID in
  implementer/issue-[147]) word="bad clean" ;;
  implementer/issue-[258]) word="good draft" ;;
  implementer/issue-3) word="bad draft" ;;
  gate_followup/issue-3) word="good draft" ;;
  */issue-9) word="good draft $RATCHET_ATTEMPT" ;;
esac
echo "$word" >"$file"
git add "$file" && git commit --quiet --message "$RATCHET_ISSUE_ID: $word"
printf '{"session_id": "session-of-%s", "usage": {"input_tokens": 10, "output_tokens": 5, "cost_usd": 0.01}}' "$RATCHET_ISSUE_ID" >"$RATCHET_RESULT_FILE"
echo "done with $RATCHET_ISSUE_ID"
`;

const reviewer = `
echo "$RATCHET_ISSUE_ID review-$RATCHET_REVIEWER $RATCHET_ATTEMPT $(dirname "$RATCHET_RESULT_FILE")" >>"$1"
prompt=$(cat)
sleep 0.$(( $$ % 3 ))
file=$RATCHET_ISSUE_ID.txt
if grep -q draft "$file"; then
  printf '{"verdict": "fail", "findings": [{"file": "%s", "line_start": 1, "line_end": 1, "priority": 1, "title": "Still a draft", "body": "Finish it."}, {"file": "%s", "line_start": 1, "line_end": 1, "priority": 3, "title": "Taste", "body": "Hm."}]}' "$file" "$file"
else
  echo '{"verdict": "pass", "findings": []}'
fi
`;

async function board(): Promise<Sandbox> {
  const box = sandbox();
  const log = join(box.root, "starts.log");
  box.configure({
    commands: { check: 'grep -q good "$RATCHET_ISSUE_ID.txt"' },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: [...box.script("agent.sh", agent), log] },
    max_agents: 4,
    per_issue_review: {
      enabled: true,
      reviewer_type: "command",
      command: [...box.script("review.sh", reviewer), log],
      track_review_issues: false,
    },
  });
  for (const id of ids) await box.add(id);
  return box;
}

test("D1 killed again and again during ten issues, a run ends as an undisturbed one does", {
  timeout: 240_000,
}, async () => {
  const seed = freshSeed();
  const [calm, killed] = await Promise.all([board(), board()]);
  expect((await calm.ratchet("run")).code).toBe(1);
  const wanted = await outcomeOf(calm);
  await expectNothingLeft(calm, ["issue-9"]);
  const { kills, last, printed } = await killUntilDone(killed, chance(seed), rounds(12, 25));
  const told = `seed ${seed}, ${kills} kills, last words: ${last.stderr}`;
  expect(kills, told).toBeGreaterThan(rounds(4, 8));
  expect(await outcomeOf(killed), told).toEqual(wanted);
  const starts = readFileSync(join(killed.root, "starts.log"), "utf8");
  expectOneStartPerAttempt(starts);
  expectOneStory(printed);
  expect(turnsIn(starts), told).toEqual(turnsIn(readFileSync(join(calm.root, "starts.log"), "utf8")));
  await expectNothingLeft(killed, ["issue-9"]);
});

/** Who was asked what, how often: the same with and without kills. */
function turnsIn(log: string): string[] {
  return log
    .split("\n")
    .map((line) => line.split(" ").slice(0, 3).join(" "))
    .sort();
}
