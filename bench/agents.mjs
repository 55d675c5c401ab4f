import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { bareCall, isInstalled, openModel } from "../dist-test/bench-agents.mjs";
import { addIssues, openBench } from "../dist-test/bench-run.mjs";
import { eventsOf, openWorld } from "./lib/world.mjs";
import { median } from "./measure.mjs";

/**
 * How long the real programs take to ask the model for the first time: from the claim of an issue in a run, against the
 * same command line, prompt and hooks started bare in a worktree that is there already; both in turns, while the run waits
 * for work. And how much memory their transcripts take. The programs and the model server are those of the tests.
 */
const models = { claude: "claude-sonnet-4-5", codex: "test-model", pi: "local/test-model" };
const rounds = 12;
const transcriptMegabytes = 100;
const megabyte = 1024 * 1024;

export async function run() {
  const results = [];
  for (const [name, model] of Object.entries(models)) {
    if (!isInstalled(name)) console.log(`left out: ${name} is not installed (node scripts/install-agents.mjs)`);
    else results.push(await measureStart(name, model));
  }
  for (const kind of ["claude", "codex", "pi", "acp"]) results.push(await measureTranscript(kind));
  return results;
}

async function measureStart(name, model) {
  const world = openWorld();
  const asked = await openModel(world.root);
  Object.assign(world.env, asked.env);
  world.configure({ agent: { type: name, model }, timeout_minutes: 2 });
  const run = await openRun(world, asked);
  const times = { bare: [], ours: [] };
  try {
    // The guard's self-test, the mirror and the program's own first start are not measured.
    const { prompt } = await run.issue("first");
    await startBare(world, asked, { id: "bare-first", prompt });
    const sides = {
      bare: async (round) => times.bare.push(await startBare(world, asked, { id: `bare-${round}`, prompt })),
      ours: async (round) => times.ours.push((await run.issue(`ours-${round}`)).ms),
    };
    for (let round = 0; round < rounds; round++) {
      // Each goes first as often as second: other work on the machine comes and goes.
      const order = round % 2 === 0 ? ["bare", "ours"] : ["ours", "bare"];
      for (const side of order) await sides[side](round);
    }
  } finally {
    await run.end();
    await asked.close();
    world.close();
  }
  const bareMs = median(times.bare);
  return {
    name: `claim to ${name}'s first question to the model / the program alone (${bareMs.toFixed(0)} ms)`,
    measured: median(times.ours) / bareMs,
    limit: 1.15,
    unit: "x",
  };
}

/** A run that waits for work; an issue is given to it whenever the other side is done. */
async function openRun(world, asked) {
  const board = await openBench({ cwd: world.repository, home: world.home });
  const { child, output, ended } = world.start(["run", "--watch", "--json"]);
  const event = async (type, id) => {
    for (;;) {
      const text = output();
      const found = eventsOf(text.slice(0, text.lastIndexOf("\n") + 1)).find(
        (one) => one.type === type && one.issue_id === id,
      );
      if (found) return found;
      await once(child.stdout, "data", { signal: AbortSignal.timeout(60_000) });
    }
  };
  return {
    async issue(id) {
      await addIssues(board, [id]);
      const claimed = await event("issue-started", id);
      const finished = await event("issue-finished", id);
      if (finished.status !== "success") throw new Error(`${id}: ${JSON.stringify(finished)}`);
      const attempts = join(world.home, "runs", claimed.run_id, id);
      const folder = readdirSync(attempts).find((entry) => entry.endsWith("-implementer"));
      const since = Date.parse(claimed.time);
      return { ms: asked.firstAsked(since) - since, prompt: join(attempts, folder, "prompt.md") };
    },
    async end() {
      board.close();
      child.kill("SIGINT");
      await ended(130);
    },
  };
}

async function startBare(world, asked, { id, prompt }) {
  const [worktree, folder] = [join(world.root, id), join(world.root, `${id}-turn`)];
  world.git("worktree", "add", "-q", "-b", id, worktree, "main");
  mkdirSync(folder);
  const call = await bareCall({ repository: world.repository, env: world.env, worktree, folder });
  const stdin = openSync(prompt, "r");
  const started = Date.now();
  const child = spawn(call.argv[0], call.argv.slice(1), {
    cwd: worktree,
    env: call.env,
    stdio: [stdin, "ignore", "inherit"],
  });
  closeSync(stdin);
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${call.argv.join(" ")}: exit ${code}`);
  world.git("worktree", "remove", "--force", worktree);
  return asked.firstAsked(started) - started;
}

/** The most that a process grows by while it follows a transcript of that size, reads it at its end and finds its last message. */
async function measureTranscript(kind) {
  const world = openWorld();
  try {
    world.configure({ agent: { type: kind, command: [kind] } });
    const file = join(world.root, "transcript.jsonl");
    const reader = startChild("bench-agents-read", [world.repository, world.root], { env: world.env });
    await once(reader.child.stdout, "data", { signal: AbortSignal.timeout(60_000) });
    await startChild("bench-agents-write", [kind, file, String(transcriptMegabytes)]).ended();
    reader.child.stdin.end();
    const { growth, outcome, bytes } = JSON.parse((await reader.ended()).split("\n")[1]);
    if (outcome.type !== "ended" || bytes < transcriptMegabytes * megabyte) throw new Error(`${kind}: ${outcome.type}`);
    const name = `memory for following and reading ${transcriptMegabytes} MB of ${kind}'s transcript`;
    return { name, measured: growth / megabyte, limit: 50, unit: "MB" };
  } finally {
    world.close();
  }
}

function startChild(name, args, options = {}) {
  const program = new URL(`../dist-test/${name}.mjs`, import.meta.url).pathname;
  const child = spawn(process.execPath, [program, ...args], { ...options, stdio: ["pipe", "pipe", "inherit"] });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
  });
  const closed = once(child, "close");
  return {
    child,
    async ended() {
      const [code] = await closed;
      if (code !== 0) throw new Error(`${name}: exit ${code}`);
      return output;
    },
  };
}
