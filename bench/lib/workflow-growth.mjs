import { readGraph } from "../../dist-test/bench-workflow.mjs";
import { median } from "../measure.mjs";
import { stages, textsOf } from "./workflow-texts.mjs";

/**
 * The few are read ten times for each time the many are, and kept, so that both sides are of the same size for the garbage
 * collector as well. By the processor's time: nothing else is used. Prints what ten of the few cost, and one of the many.
 */
const format = process.argv[2];
const [few, many] = [textsOf[format](stages), textsOf[format](10 * stages)];
const costs = { few: [], many: [] };
for (let round = 0; round < 40; round++) {
  costs.few.push(await used(few, 10));
  costs.many.push(await used(many, 1));
}
// The first rounds are the compiler's.
console.log(JSON.stringify([costs.few, costs.many].map((list) => median(list.slice(10)))));

async function used(text, times) {
  const graphs = [];
  const before = process.cpuUsage();
  for (let time = 0; time < times; time++) graphs.push(await readGraph(text, `bench.${format}`));
  const { user, system } = process.cpuUsage(before);
  if (graphs.some(({ stages: read }) => read.length === 0)) throw new Error(`no stages in ${format}`);
  return user + system;
}
