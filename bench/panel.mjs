import { eventsOf, openWorld } from "./lib/world.mjs";

/**
 * A panel of four reviewers that take two seconds each, one of which blocks twice. How long a round with all four takes,
 * from the end of the agent's turn to the last verdict; and how many run again after a fix that did not satisfy the one.
 */
const names = ["ada", "bob", "cyd", "dee"];
const slow = "cat >/dev/null\nsleep 2\n";
const found = { file: "a.ts", line_start: 1, line_end: 2, priority: 1, title: "Wrong", body: "It is wrong." };
const say = (verdict, findings) => `echo '${JSON.stringify({ verdict, findings })}'\n`;
const strict = `${slow}if [ "$RATCHET_ATTEMPT" -lt 3 ]; then ${say("fail", [found])}else ${say("pass", [])}fi\n`;

export async function run() {
  const world = openWorld();
  try {
    const work = 'cat >/dev/null\necho "$RATCHET_ATTEMPT" >file && git add -A && git commit -qm work\n';
    const panel = names.map((name) => ({
      name,
      reviewer_type: "command",
      command: world.script(`${name}.sh`, name === "ada" ? strict : slow + say("pass", [])),
    }));
    world.configure({
      agent: { type: "command", command: world.script("agent.sh", work) },
      max_agents: 4,
      per_issue_review: { enabled: true, reviewer_type: "panel", panel },
    });
    world.ratchet("work", "add", "one", "--id", "one");
    return figuresOf(eventsOf(await world.start(["run", "--json"]).ended()));
  } finally {
    world.close();
  }
}

function figuresOf(events) {
  const at = (event) => Date.parse(event.time);
  const ofRound = (type, round) => events.filter((event) => event.type === type && event.attempt === round);
  const [first, second] = [1, 2].map((round) => ofRound("review-started", round));
  if (first.length !== names.length) throw new Error(`${first.length} reviewers in round 1`);
  const turn = events.find((event) => event.type === "turn-ended");
  const seconds = (Math.max(...ofRound("review-ended", 1).map(at)) - at(turn)) / 1000;
  return [
    { name: "a round of 4 reviewers of 2 s each", measured: seconds, limit: 2.5, unit: "s" },
    {
      name: "reviewers run after a fix that one of 4 objects to",
      measured: second.length,
      limit: 1,
      unit: "reviewers",
    },
  ];
}
