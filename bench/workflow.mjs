import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEngine, readGraph } from "../dist-test/bench-workflow.mjs";
import { chainOf, loadLangGraph, loopOf } from "./lib/langgraph.mjs";
import { median, timed } from "./measure.mjs";

/**
 * What a stage costs besides its work: chains and loops of stages that are done at once, on the real machine, kernel and
 * store, against LangGraph.js with its SQLite saver, each with a file of its own on the same disk. Both keep what
 * every stage said, record a step before the next begins and wait for the disk; what theirs takes when it does not wait is
 * told beside it. Measured in turns, the least disturbed of each, parsing and compiling not counted. And whether the
 * 10,000th visit of a loop costs more than the 100th.
 */
const shapes = [
  { name: "a chain of 10 stages", stages: 10, rounds: 11, limit: null },
  { name: "a chain of 100 stages", stages: 100, rounds: 7, limit: 1 / 3 },
  { name: "a chain of 1,000 stages", stages: 1000, rounds: 4, limit: 1 / 10 },
  { name: "a loop of 1,000 visits", stages: 1, visits: 1000, rounds: 3, limit: null },
];

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  const engine = await openEngine(join(folder, "home"));
  try {
    const langgraph = await loadLangGraph();
    const results = [];
    for (const shape of langgraph === null ? [] : shapes) {
      results.push(...(await compareShape(shape, { folder, engine, langgraph })));
    }
    return [...results, await compareAges(engine)];
  } finally {
    engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareShape({ name, stages, visits = null, rounds, limit }, { folder, engine, langgraph }) {
  const steps = visits ?? stages;
  const graph = await readGraph(visits === null ? chainText(stages) : loopText(), "bench.kdl");
  const theirs = visits === null ? chainOf(langgraph, stages) : loopOf(langgraph, visits);
  const costs = { ours: [], full: [], normal: [] };
  for (let round = 0; round < rounds; round++) {
    for (const synchronous of round === 0 ? ["normal", "full"] : ["full"]) {
      const path = join(folder, `${synchronous}-${stages}-${steps}-${round}.db`);
      costs[synchronous].push(await timeTheirs(langgraph, theirs, { path, synchronous, steps }));
    }
    const runId = `${stages}-${steps}-${round}`;
    const ours = visits === null ? { graph, runId } : { graph, runId, onCommit: enough(visits) };
    costs.ours.push(await timed(() => engine.drive(ours)));
  }
  const [ours, full, normal] = [costs.ours, costs.full, costs.normal].map((list) => Math.min(...list) / steps);
  console.log(`${name}: ${ms(ours)} a step; LangGraph.js ${ms(full)}, ${ms(normal)} without waiting for the disk`);
  if (limit === null) return [];
  return [{ name: `${name}: a step / a step of LangGraph.js`, measured: ours / full, limit, unit: "x" }];
}

async function timeTheirs({ SqliteSaver }, graph, { path, synchronous, steps }) {
  const saver = SqliteSaver.fromConnString(path);
  saver.setup();
  saver.db.pragma(`synchronous = ${synchronous}`);
  const app = graph.compile({ checkpointer: saver });
  const config = { configurable: { thread_id: "bench" }, recursionLimit: steps + 10, durability: "sync" };
  try {
    return await timed(() => app.invoke({ replies: {} }, config));
  } finally {
    saver.db.close();
  }
}

/** Stops a loop after so many visits. */
function enough(visits) {
  let made = -1;
  return () => ++made >= visits;
}

function ms(value) {
  return `${value.toFixed(2)} ms`;
}

/** Goes on with a loop for so many visits; the time they took, the opening not counted. */
async function turns(engine, { graph, runId, count }) {
  let [start, end, made] = [0, 0, 0];
  const onCommit = () => {
    if (made++ === 0) start = performance.now();
    end = performance.now();
    return made > count;
  };
  await engine.drive({ graph, runId, onCommit });
  return end - start;
}

/** A young loop and one with a long history, in turns: a hundred visits each time. */
async function compareAges(engine) {
  const graph = await readGraph(loopText(), "bench.kdl");
  const [young, old] = [[], []];
  await turns(engine, { graph, runId: "old", count: 10_000 });
  for (let round = 0; round < 11; round++) {
    await turns(engine, { graph, runId: `young-${round}`, count: 100 });
    young.push(await turns(engine, { graph, runId: `young-${round}`, count: 100 }));
    old.push(await turns(engine, { graph, runId: "old", count: 100 }));
  }
  return { name: "a loop's 10,000th visit / its 100th", measured: median(old) / median(young), limit: 1.3, unit: "x" };
}

function chainText(stages) {
  const names = Array.from({ length: stages }, (_, at) => `s${at}`);
  const lines = names.map((name) => `stage "${name}" kind="llm" prompt="Do it"`);
  const ways = [...names, "exit"].slice(1).map((name, at) => `transition from="s${at}" to="${name}"`);
  return `workflow "chain" {\nversion 2\nstart "s0"\n${lines.join("\n")}\nstage "exit" kind="exit"\n${ways.join("\n")}\n}\n`;
}

function loopText() {
  return `workflow "loop" {
  version 2
  start "work"
  stage "work" kind="llm" prompt="Do it" max_visits=1000000
  stage "exit" kind="exit"
  transition from="work" to="exit" when="outcome(\\"work\\") == \\"fail\\""
  transition from="work" to="work"
}
`;
}
