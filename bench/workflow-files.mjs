import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stages, textsOf } from "./lib/workflow-texts.mjs";
import { compare, runProgram } from "./measure.mjs";

/**
 * What reading a workflow's file costs: whether ten times the stages take more than about ten times as long, in both
 * formats, parsed and checked; and how long `workflow validate` takes for a small file, against the shortest program that
 * Node can run.
 */
const program = new URL("../dist/ratchet.js", import.meta.url).pathname;
const growthProgram = new URL("./lib/workflow-growth.mjs", import.meta.url).pathname;

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    return [growth("kdl"), growth("dot"), ...(await starts(folder))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** In a process of its own: what is left of one format must not be the other's. */
function growth(format) {
  const [few, many] = JSON.parse(runProgram("node", [growthProgram, format]));
  const name = `parsing and checking ${format}: ${10 * stages} stages / ${stages} stages`;
  return { name, measured: (10 * many) / few, limit: 12, unit: "x" };
}

async function starts(folder) {
  const env = { ...process.env, RATCHET_HOME: join(folder, "home") };
  const results = [];
  for (const [format, textOf] of Object.entries(textsOf)) {
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
