import { join } from "node:path";
import { startForge } from "../dist-test/bench-pull-requests.mjs";
import { openSignals, openWorld } from "./lib/world.mjs";
import { median } from "./measure.mjs";

/**
 * From a comment on a pull request to the agent that is to answer it: the forge's webhook reaches `ratchet serve`, which
 * has the pull request looked at; the item that comes of it wakes `ratchet run --watch`. All on loopback, two processes.
 */
const rounds = 7;
const secret = "of this benchmark";

const agent = (signals) => `
read -r line && echo "asked $RATCHET_PROMPT_KIND" >${signals.tell}
cat >/dev/null
echo "$RATCHET_ISSUE_ID" >>file
git add -A && git commit -qm work
`;

export async function run() {
  const world = openWorld();
  const signals = openSignals(world);
  const bare = join(world.root, "forge.git");
  world.git("clone", "--quiet", "--bare", world.repository, bare);
  world.git("remote", "add", "origin", bare);
  const forge = await startForge({ repo: "acme/shop", gitDir: bare });
  try {
    world.env.GITHUB_TOKEN = forge.person("ratchet-bot", "NONE").token;
    world.env.RATCHET_WEBHOOK_SECRET = secret;
    world.configure({
      agent: { type: "command", command: world.script("agent.sh", agent(signals)) },
      finalize: { mode: "pr" },
      forge: { repo: "acme/shop", api_url: forge.url },
      pull_requests: { max_rework_cycles: 100, poll_seconds: 3600 },
    });
    world.ratchet("work", "add", "one", "--id", "one");
    await world.start(["run"]).ended();
    await signals.heard("asked implementer");
    const times = await measure({ world, forge, signals });
    return [{ name: "comment to the agent's start, by webhook", measured: median(times), limit: 2000, unit: "ms" }];
  } finally {
    signals.close();
    await forge.close();
    world.close();
  }
}

async function measure({ world, forge, signals }) {
  const watching = world.start(["run", "--watch"]);
  const serving = world.start(["serve", "--port", "0"]);
  await until(() => watching.output().includes("Waiting for new work") && serving.output().includes("token: "));
  forge.hook(`${/http:\S+?(?=,)/.exec(serving.output())[0]}/webhooks/github`, secret);
  const jo = forge.person("jo");
  const answers = async () =>
    (await jo.send("GET", "/issues/1/comments?per_page=100")).filter(({ body }) => body.includes("addressed in"))
      .length;
  const times = [];
  for (let round = 1; round <= rounds; round++) {
    const from = performance.timeOrigin + performance.now();
    await jo.send("POST", "/issues/1/comments", { body: `Please, once more: ${round}` });
    times.push((await signals.heard("asked rework")).at - from);
    await until(async () => (await answers()) === round);
  }
  return times;
}

async function until(holds) {
  for (const giveUpAt = Date.now() + 60_000; !(await holds()); ) {
    if (Date.now() > giveUpAt) throw new Error("waited in vain");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
