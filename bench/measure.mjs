import { spawnSync } from "node:child_process";
import { performance } from "node:perf_hooks";

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

export async function timed(task) {
  const start = performance.now();
  await task();
  return performance.now() - start;
}

/** Both sides in turns, so that a busy machine hits both alike; the ratio of their medians. */
export async function compare(name, { ours, theirs, rounds, limit }) {
  const costs = { ours: [], theirs: [] };
  for (let round = 0; round < rounds; round++) {
    costs.theirs.push(await timed(() => theirs(round)));
    costs.ours.push(await timed(() => ours(round)));
  }
  return { name, measured: median(costs.ours) / median(costs.theirs), limit, unit: "x" };
}

/** Runs a program to its end; anything but exit 0 is an error of the benchmark. */
export function runProgram(program, args, options = {}) {
  const result = spawnSync(program, args, { encoding: "utf8", ...options });
  if (result.status !== 0) throw new Error(`${program} ${args.join(" ")}: ${result.status} ${result.stderr}`);
  return result.stdout;
}
