import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine, readGraph } from "../dist-test/bench-workflow.mjs";
import { openWorld } from "./lib/world.mjs";
import { median } from "./measure.mjs";

/**
 * Whether a workflow that goes round and round becomes slower, or keeps what was said more than once: four reviews that
 * say 20 kB each, twenty rounds, and a stage that is given all of it. The steps' times are those of the machine, the kernel
 * and the store; bytes and prompts are those of a whole run with real programs.
 *
 * A text is stored once, as the file that its program printed into. What Ratchet stores besides is the prompts, which must
 * have those texts in them (1.0 x by themselves), and its records. All that it writes is more, because the database's
 * journal has a whole page for each change, and the database itself is written from it once. What goes through pipes, to
 * programs and to whoever looks on, is stored nowhere.
 */
const reviews = ["code", "security", "performance", "tests"];
const rounds = 20;
const replyBytes = 20_000;
const inlineBytes = 512;

export async function run() {
  return [await compareRounds(), ...(await compareTexts())];
}

async function compareRounds() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  const engine = await openEngine(folder);
  try {
    const graph = await readGraph(workflowText(), "rounds.kdl");
    const costs = { first: [], last: [] };
    for (let repeat = 0; repeat < 43; repeat++) {
      const used = await costOfRounds(engine, { graph, runId: `rounds-${repeat}` });
      costs.first.push(used[0]);
      costs.last.push(used[rounds - 1]);
    }
    // The first repeats are the compiler's.
    const [first, last] = [costs.first, costs.last].map((list) => median(list.slice(8)));
    const name = `a step of round ${rounds} / of round 1, ${reviews.length} reviews of ${replyBytes} B each`;
    return { name, measured: last / first, limit: 1.3, unit: "x" };
  } finally {
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What each round cost, its reviews and the stage that mends: of the processor, because a disk's time says nothing of us. */
async function costOfRounds(engine, { graph, runId }) {
  const ends = [];
  let steps = 0;
  const onCommit = () => {
    if (steps++ % (reviews.length + 1) === 0) {
      const { user, system } = process.cpuUsage();
      ends.push(user + system);
    }
    return ends.length > rounds;
  };
  const answer = ({ review, stage, visit }) =>
    review ? replyOf(stage, visit) : { reply: { text: "Done." }, status: null };
  await engine.drive({ graph, runId, answer, onCommit });
  return ends.slice(1).map((end, at) => end - ends[at]);
}

/** As the performer of turns hands such a reply on: its beginning, and where the whole of it is. */
function replyOf(stage, visit) {
  const file = { path: `${stage}-${visit}/stdout.log`, bytes: replyBytes, sha256: "0".repeat(64) };
  const text = `What ${stage} found in round ${visit}. `.padEnd(inlineBytes, "x");
  const failureReason = `${stage} found something in round ${visit}`;
  const status = { from: "marker", status: "fail", failureReason, preferredLabel: null, nextIds: [] };
  return { reply: { text, ref: file }, replyFile: file, status };
}

async function compareTexts() {
  const world = openWorld();
  try {
    const file = join(world.root, "rounds.kdl");
    writeFileSync(file, workflowText());
    const convergence = { same_failure: 100, rounds_without_fewer_findings: 100 };
    world.configure({
      agent: { type: "command", command: world.script("agent.sh", agentIn(world.root)) },
      convergence,
    });
    const count = join(world.root, "count.mjs");
    const counted = join(world.root, "counted");
    writeFileSync(count, countWritten(counted));
    await world.start(["workflow", "run", file], ["--import", count]).ended();
    const [runId] = readdirSync(join(world.home, "runs"));
    const attempts = attemptsIn(join(world.home, "runs", runId));
    const printed = attempts.reduce((sum, { stdout }) => sum + stdout, 0);
    const kept = bytesIn(world.home) - printed;
    // The database is written from its journal after the program's own end.
    const wrote = Number(readFileSync(counted, "utf8")) + statSync(join(world.home, "ratchet.db")).size;
    const prompts = attempts.filter(({ stage }) => stage === "fix").map(({ prompt }) => prompt);
    if (prompts.length !== rounds) throw new Error(`${prompts.length} fix prompts`);
    const [first, last] = [prompts[0], prompts[rounds - 1]];
    return [
      {
        name: `what a run leaves on the disk besides, prompts included / the ${printed} B that programs printed`,
        measured: kept / printed,
        limit: 2,
        unit: "x",
      },
      {
        name: "all that Ratchet writes to files meanwhile, every page of the database's journal too / the same",
        measured: wrote / printed,
        limit: 2,
        unit: "x",
      },
      {
        name: `fix prompt of round ${rounds} (${last} B) / of round 1 (${first} B)`,
        measured: last / first,
        limit: 1.2,
        unit: "x",
      },
    ];
  } finally {
    world.close();
  }
}

/**
 * Tells at its end how many bytes a process has written to files. By thread: a process's own count has its children's.
 * What went into pipes is counted where it is handed over.
 */
const countWritten = (file) => `
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
const { write } = Socket.prototype;
let piped = 0;
Socket.prototype.write = function (chunk, ...more) {
  piped += Buffer.byteLength(chunk);
  return write.call(this, chunk, ...more);
};
process.on("exit", () => {
  const written = (thread) => Number(/^wchar: (\\d+)$/m.exec(readFileSync("/proc/self/task/" + thread + "/io", "utf8"))[1]);
  const all = readdirSync("/proc/self/task").map(written).reduce((a, b) => a + b);
  writeFileSync(${JSON.stringify(file)}, String(all - piped));
});
`;

/** Reviews find something in each of the rounds, and nothing more after the last. */
const agentIn = (folder) => `
cat >/dev/null
[ "$RATCHET_STAGE_ID" = fix ] && { echo "Done."; exit 0; }
echo >>"${folder}/visits-$RATCHET_STAGE_ID"
round=$(wc -l <"${folder}/visits-$RATCHET_STAGE_ID")
[ "$round" -gt ${rounds} ] && { echo "[STATUS: success]"; exit 0; }
line="Round $round: the value of an empty order is used before anything has checked it, see part $round of the shop."
awk -v line="$line" 'BEGIN { for (n = 0; n < ${replyBytes}; n += length(line) + 6) printf "%04d %s\\n", n, line }'
echo "[STATUS: fail]"
echo "[FAILURE_REASON: in round $round an empty order crashes the shop]"
`;

function attemptsIn(run) {
  const folders = readdirSync(join(run, "_run")).filter((name) => /^\d+-/.test(name));
  const inOrder = folders.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  return inOrder.map((name) => {
    const size = (file) => statSync(join(run, "_run", name, file)).size;
    return { stage: name.replace(/^\d+-/, ""), prompt: size("prompt.md"), stdout: size("transcript.jsonl") };
  });
}

/** Everything below a folder. */
function bytesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function workflowText() {
  const lines = reviews.map((name) => `stage "${name}" kind="llm" auto_status=#true prompt="Review it for ${name}"`);
  const ways = [...reviews, "gate"].slice(1).map((name, at) => `transition from="${reviews[at]}" to="${name}"`);
  return `workflow "rounds" {
  version 2
  start "${reviews[0]}"
  ${[...lines, ...ways].join("\n  ")}
  stage "gate" kind="decision" {
    route to="exit" when=#"outcome("${reviews.at(-1)}") == "success""#
    route to="fix" when="true"
  }
  stage "fix" kind="llm" prompt="Mend what they found"
  transition from="fix" to="${reviews[0]}"
  stage "exit" kind="exit"
}
`;
}
