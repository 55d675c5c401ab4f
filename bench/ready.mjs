import { join } from "node:path";
import { addIssues, openBench } from "../dist-test/bench-run.mjs";
import { eventsOf, openSignals, openWorld } from "./lib/world.mjs";
import { median } from "./measure.mjs";

/**
 * From the moment an issue becomes ready to its agent's start, without the making of its worktree, which is measured in
 * the same lives: once after its blocker has landed, once after another process has added it to the board of a waiting
 * `run --watch`. The program is the built one; the moments come from its own journal and from the agent itself.
 */
const rounds = 12;
const agent = (signals) => `
echo "starts $RATCHET_ISSUE_ID" >${signals.tell}
cat >/dev/null
echo x >"file-$RATCHET_ISSUE_ID" && git add -A && git commit -qm work
`;

export async function run() {
  return [
    figure("issue ready because its blocker has landed, to its agent's start", await measure(afterBlocker)),
    figure("issue ready because it was added elsewhere, to its agent's start", await measure(afterAdding)),
  ];
}

function figure(name, { waits, worktrees }) {
  const plus = `without the worktree, which took ${median(worktrees).toFixed(0)} ms`;
  return { name: `${name} (${plus})`, measured: median(waits), limit: 50, unit: "ms" };
}

async function measure(how) {
  const world = openWorld();
  const signals = openSignals(world);
  try {
    const command = world.script("agent.sh", agent(signals));
    world.configure({ agent: { type: "command", command }, max_agents: 2 });
    const bench = await openBench({ cwd: join(world.root, "repository"), home: world.home });
    const lives = await how(world, signals, bench);
    const worktrees = [];
    for (const { machine } of lives) worktrees.push(worktreeMs(await bench.store.journal(machine)));
    bench.close();
    const waits = lives.map(({ readyAt, startedAt }, index) => startedAt - readyAt - worktrees[index]);
    return { waits, worktrees };
  } finally {
    signals.close();
    world.close();
  }
}

/** A chain: each issue is blocked by the one before it. */
async function afterBlocker(world, signals, bench) {
  const ids = Array.from({ length: rounds + 1 }, (_, index) => `i-${index}`);
  for (const [index, id] of ids.entries()) await addIssues(bench, [id], index === 0 ? [] : [ids[index - 1]]);
  const started = world.start(["run", "--json"]);
  const starts = [];
  for (const id of ids) starts.push((await signals.heard(`starts ${id}`)).at);
  const events = eventsOf(await started.ended());
  const landed = new Map(
    events.flatMap((event) => (event.type === "landed" ? [[event.issue_id, Date.parse(event.time)]] : [])),
  );
  return ids.slice(1).map((id, index) => ({
    machine: machineOf(events, id),
    readyAt: landed.get(ids[index]),
    startedAt: starts[index + 1],
  }));
}

async function afterAdding(world, signals, bench) {
  const started = world.start(["run", "--watch", "--json"]);
  const lives = [];
  for (let round = 0; round < rounds; round++) {
    await until(() => isWaiting(started.output()));
    const readyAt = performance.timeOrigin + performance.now();
    await addIssues(bench, [`i-${round}`]);
    lives.push({ id: `i-${round}`, readyAt, startedAt: (await signals.heard(`starts i-${round}`)).at });
  }
  await until(() => isWaiting(started.output()));
  started.child.kill("SIGINT");
  const events = eventsOf(await started.ended(130));
  return lives.map(({ id, ...times }) => ({ machine: machineOf(events, id), ...times }));
}

/** Nothing runs, and it has said so. */
function isWaiting(output) {
  const last = eventsOf(output.slice(0, output.lastIndexOf("\n") + 1)).at(-1);
  return last?.type === "log" && last.text === "Waiting for new work";
}

async function until(holds) {
  const giveUpAt = Date.now() + 30_000;
  while (!holds()) {
    if (Date.now() > giveUpAt) throw new Error("the run does not get on");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function machineOf(events, id) {
  return `issue:${events[0].run_id}:1:${id}`;
}

function worktreeMs(arrivals) {
  const ready = arrivals.findIndex((arrival) => arrival.type === "worktree-ready");
  return arrivals[ready].at - arrivals[ready - 1].at;
}
