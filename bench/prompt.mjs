import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventsOf, openWorld } from "./lib/world.mjs";

/**
 * Whether prompts grow with history: a reviewer that finds the same number of defects in every round, new ones each time,
 * and the size of the prompt that asks to fix them, in round 20 against round 1.
 */
const rounds = 20;
const findingsPerRound = 5;
const review = `
cat >/dev/null
findings=""
n=0
while [ $n -lt ${findingsPerRound} ]; do
  n=$((n + 1))
  body="In round $RATCHET_ATTEMPT the value of field $n is used before anything has checked it, so an empty order crashes the shop."
  findings="$findings,{\\"file\\": \\"src/part-$RATCHET_ATTEMPT-$n.ts\\", \\"line_start\\": $n, \\"line_end\\": $n, \\"priority\\": 1, \\"title\\": \\"Field $n of step $RATCHET_ATTEMPT is not checked\\", \\"body\\": \\"$body\\"}"
done
echo "{\\"verdict\\": \\"fail\\", \\"findings\\": [\${findings#,}]}"
`;

export async function run() {
  const world = openWorld();
  try {
    const work = 'cat >/dev/null\necho "$RATCHET_ATTEMPT" >file && git add -A && git commit -qm work\n';
    world.configure({
      agent: { type: "command", command: world.script("agent.sh", work) },
      per_issue_review: {
        enabled: true,
        reviewer_type: "command",
        command: world.script("review.sh", review),
        max_retries: rounds + 1,
      },
    });
    world.ratchet("work", "add", "one", "--id", "one");
    const events = eventsOf(await world.start(["run", "--json"]).ended(1));
    const sizes = promptSizes(join(world.home, "runs", events[0].run_id, "one"));
    if (sizes.length < rounds) throw new Error(`${sizes.length} fix prompts`);
    const [first, last] = [sizes[0], sizes[rounds - 1]];
    const name = `fix prompt of round ${rounds} (${last} B) / of round 1 (${first} B), ${findingsPerRound} open findings each`;
    return [{ name, measured: last / first, limit: 1.2, unit: "x" }];
  } finally {
    world.close();
  }
}

function promptSizes(folder) {
  const attempts = readdirSync(folder).filter((name) => /^\d+-review_followup$/.test(name));
  const inOrder = attempts.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return inOrder.map((name) => statSync(join(folder, name, "prompt.md")).size);
}
