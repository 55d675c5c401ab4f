import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorld } from "./lib/world.mjs";
import { median } from "./measure.mjs";

/**
 * How long it takes until the next stage of a workflow runs: of a run that was killed with 1,000 stages finished, against
 * a new run of the same file. Every stage is a program that says that it runs; the last one waits until it is let go.
 */
const stages = 1000;
const rounds = 7;
const pollMs = 2;
const patienceMs = 300_000;

export async function run() {
  const world = openWorld();
  try {
    const file = join(world.root, "chain.kdl");
    const [runs, hold] = [join(world.root, "runs"), join(world.root, "hold")];
    const [, script] = world.script("work.sh", `echo >"${runs}"\nwhile [ -e "${hold}" ]; do sleep 0.1; done\n`);
    writeFileSync(file, chainText(`[ "$RATCHET_STAGE_ID" != s${stages} ] || exec sh ${script}`));
    const first = join(world.root, "first.kdl");
    writeFileSync(first, chainText(`exec sh ${script}`));
    const start = (...args) => world.start(["workflow", "run", ...args]);
    writeFileSync(hold, "");
    await killAtStage(start(file), runs);
    const times = { fresh: [], resumed: [] };
    for (let round = 0; round < rounds; round++) {
      times.fresh.push(await killAtStage(start(first), runs));
      times.resumed.push(await killAtStage(start(file, "--resume"), runs));
    }
    rmSync(hold);
    const [fresh, resumed] = [median(times.fresh), median(times.resumed)];
    const name = `next stage of a run with ${stages} finished (${resumed.toFixed(0)} ms) / first stage of a new one`;
    return [{ name, measured: resumed / fresh, limit: 1.5, unit: "x" }];
  } finally {
    world.close();
  }
}

/** From the start of the program until a stage of it runs; then it is killed. */
async function killAtStage(started, file) {
  const begin = performance.now();
  while (!existsSync(file)) {
    if (performance.now() - begin > patienceMs) throw new Error(`no stage ran: ${started.output()}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  const ms = performance.now() - begin;
  started.child.kill("SIGKILL");
  await started.ended(null);
  rmSync(file);
  return ms;
}

function chainText(command) {
  const names = Array.from({ length: stages + 1 }, (_, at) => `s${at}`);
  const lines = names.map((name) => `stage "${name}" kind="tool" command=${JSON.stringify(command)}`);
  const ways = [...names, "exit"].slice(1).map((name, at) => `transition from="s${at}" to="${name}"`);
  return `workflow "chain" {\nversion 2\nstart "s0"\n${[...lines, ...ways].join("\n")}\nstage "exit" kind="exit"\n}\n`;
}
