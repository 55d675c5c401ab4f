import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/**
 * LangGraph.js with its SQLite saver, pinned, in a cache of its own: it is compared with and never a part of Ratchet. The
 * first use installs it. Where no prebuilt better-sqlite3 can be fetched, that package is compiled, which takes minutes.
 */
const packages = {
  "@langchain/langgraph": "1.4.18",
  "@langchain/langgraph-checkpoint-sqlite": "1.0.4",
  "@langchain/core": "1.2.13",
};
const folder = join(homedir(), ".cache", "ratchet", "bench", `langgraph@${packages["@langchain/langgraph"]}`);
const installTimeoutMs = 20 * 60_000;

/** null, and a word why: it could not be installed here. */
export async function loadLangGraph() {
  try {
    install();
    const require = createRequire(join(folder, "package.json"));
    const load = (name) => import(pathToFileURL(require.resolve(name)).href);
    const { Annotation, END, START, StateGraph } = (await load("@langchain/langgraph")).default;
    const { SqliteSaver } = (await load("@langchain/langgraph-checkpoint-sqlite")).default;
    return { Annotation, END, START, StateGraph, SqliteSaver };
  } catch (error) {
    console.log(
      `left out: LangGraph.js could not be installed (${String(error.stderr || error.message)
        .trim()
        .slice(-200)})`,
    );
    return null;
  }
}

/** The folder appears by one rename when everything in it works. */
function install() {
  if (existsSync(folder)) return;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    const npm = (...args) =>
      execFileSync("npm", [...args, "--prefix", making, "--no-audit", "--no-fund", "--loglevel=error"], {
        stdio: ["ignore", "ignore", "pipe"],
        timeout: installTimeoutMs,
      });
    const names = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
    console.log("installing LangGraph.js and its SQLite saver (once; a compiler may take minutes)");
    npm("install", "--ignore-scripts", ...names);
    npm("rebuild", "better-sqlite3");
    execFileSync(process.execPath, ["-e", "new (require('better-sqlite3'))(':memory:')"], { cwd: making });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

/** What each node said is kept for those behind it, as Ratchet keeps it. */
function stateOf({ Annotation }) {
  const replies = Annotation({ reducer: (known, more) => ({ ...known, ...more }), default: () => ({}) });
  return Annotation.Root({ replies, visits: Annotation() });
}

/** A chain of so many nodes that do nothing. */
export function chainOf(langgraph, nodes) {
  const { END, START, StateGraph } = langgraph;
  const names = Array.from({ length: nodes }, (_, at) => `s${at}`);
  let graph = new StateGraph(stateOf(langgraph));
  for (const name of names) graph = graph.addNode(name, async () => ({ replies: { [name]: "done" } }));
  for (const [at, name] of names.entries()) graph = graph.addEdge(at === 0 ? START : names[at - 1], name);
  return graph.addEdge(names.at(-1), END);
}

/** A node that leads back to itself so many times. */
export function loopOf(langgraph, visits) {
  const { END, START, StateGraph } = langgraph;
  return new StateGraph(stateOf(langgraph))
    .addNode("work", async ({ visits: before = 0 }) => ({ visits: before + 1, replies: { work: "done" } }))
    .addEdge(START, "work")
    .addConditionalEdges("work", ({ visits: made }) => (made < visits ? "work" : END), ["work", END]);
}
