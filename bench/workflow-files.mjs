import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readGraph } from "../dist-test/bench-workflow.mjs";
import { compare, median, runProgram } from "./measure.mjs";

/**
 * What reading a workflow's file costs: whether ten times the stages take more than about ten times as long, in both
 * formats, parsed and checked; and how long `workflow validate` takes for a small file, against the shortest program that
 * Node can run.
 */
const program = new URL("../dist/ratchet.js", import.meta.url).pathname;
const stages = 200;

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    return [await growth("kdl", kdlText), await growth("dot", dotText), ...(await starts(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * The few are read ten times for each time the many are, and kept, so that both sides are of the same size for the garbage
 * collector as well. By the processor's time: nothing else is used.
 */
async function growth(format, textOf) {
  const [few, many] = [textOf(stages), textOf(10 * stages)];
  const costs = { few: [], many: [] };
  for (let round = 0; round < 40; round++) {
    costs.few.push(await used(few, { format, times: 10 }));
    costs.many.push(await used(many, { format, times: 1 }));
  }
  // The first rounds are the compiler's.
  const [one, ten] = [costs.few, costs.many].map((list) => median(list.slice(10)));
  const name = `parsing and checking ${format}: ${10 * stages} stages / ${stages} stages`;
  return { name, measured: (10 * ten) / one, limit: 12, unit: "x" };
}

async function used(text, { format, times }) {
  const graphs = [];
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) graphs.push(await readGraph(text, `bench.${format}`));
  const { user, system } = process.cpuUsage(before);
  if (graphs.some(({ stages: read }) => read.length === 0)) throw new Error(`no stages in ${format}`);
  return user + system;
}

async function starts(folder) {
  const env = { ...process.env, RATCHET_HOME: join(folder, "home") };
  const results = [];
  for (const [format, textOf] of Object.entries({ kdl: kdlText, dot: dotText })) {
    const file = join(folder, `small.${format}`);
    writeFileSync(file, textOf(4));
    results.push(
      await compare(`ratchet workflow validate of a small ${format} file / node -e 0`, {
        theirs: () => runProgram("node", ["-e", "0"]),
        ours: () => runProgram("node", [program, "workflow", "validate", file], { cwd: folder, env }),
        rounds: 21,
        limit: 1.5,
      }),
    );
  }
  return results;
}

/** Work and a review of it, again and again; a review that fails leads back. */
function kdlText(count) {
  const lines = [];
  for (let at = 0; at < count / 2; at++) {
    const next = at + 1 < count / 2 ? `work${at + 1}` : "exit";
    lines.push(
      `stage "work${at}" kind="llm" prompt="Do part ${at} of $goal"`,
      `stage "review${at}" kind="llm" auto_status=#true prompt="Review part ${at}"`,
      `transition from="work${at}" to="review${at}"`,
      `transition from="review${at}" to="${next}" when=#"outcome("review${at}") == "success""#`,
      `transition from="review${at}" to="work${at}" when=#"outcome("review${at}") != "success""#`,
    );
  }
  return `workflow "bench" {\n  version 2\n  start "work0"\n  ${lines.join("\n  ")}\n  stage "exit" kind="exit"\n}\n`;
}

function dotText(count) {
  const lines = ["start [shape=Mdiamond]", "exit [shape=Msquare]", "start -> work0"];
  for (let at = 0; at < count / 2; at++) {
    const next = at + 1 < count / 2 ? `work${at + 1}` : "exit";
    lines.push(
      `work${at} [shape=box, prompt="Do part ${at} of $goal"]`,
      `review${at} [shape=box, auto_status=true, prompt="Review part ${at}"]`,
      `work${at} -> review${at}`,
      `review${at} -> ${next} [condition="outcome=success"]`,
      `review${at} -> work${at} [condition="outcome!=success"]`,
    );
  }
  return `digraph bench {\n  ${lines.join("\n  ")}\n}\n`;
}
