import { isUtf8 } from "node:buffer";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { codeOf, messageOf } from "../../lib/errors.js";
import { check } from "../../workflow/check/check.js";
import type { CheckOptions } from "../../workflow/check/rule.js";
import type { Diagnostic, Parsed } from "../../workflow/diagnostic.js";
import type { Graph, Position } from "../../workflow/graph.js";
import { findWorkflow, isNoPath, type WorkflowPlace } from "./find.js";

/**
 * All that a workflow is made of, as text: its file, its prompt files and the workflows it calls. A run keeps it, so
 * that it goes on with what it started with, whatever happens to the files meanwhile.
 */
export interface WorkflowSource {
  readonly file: string;
  readonly text: string;
  /** By their names as written. */
  readonly prompts: Readonly<Record<string, string>>;
  /** By their refs as written. */
  readonly children: Readonly<Record<string, WorkflowSource>>;
}

export interface LoadedWorkflow {
  readonly file: string;
  /** null: too broken to be anything. */
  readonly graph: Graph | null;
  readonly diagnostics: readonly Diagnostic[];
  readonly source: WorkflowSource;
}

/** Reads, parses and checks a workflow with everything that belongs to it. Whatever is wrong is a diagnostic. */
export async function loadWorkflow(file: string, place: WorkflowPlace): Promise<LoadedWorkflow> {
  return await load(file, place, []);
}

async function load(file: string, place: WorkflowPlace, callers: readonly string[]): Promise<LoadedWorkflow> {
  const read = readText(file);
  if ("problem" in read) return broken(file, read.problem);
  const { text } = read;
  const { graph, diagnostics } = await parseWorkflow(text, file);
  if (graph === null) return { file, graph, diagnostics, source: { file, text, prompts: {}, children: {} } };
  const found = check(graph, {
    readable: (path) => promptState(lookAt(path, file, place)),
    workflowExists: (ref) => findChild(ref, file, place) !== null,
  });
  const prompts = promptsOf(graph, { file, place });
  const children = await childrenOf(graph, { file, place, callers: [...callers, realpathSync(file)] });
  return {
    file,
    graph,
    diagnostics: [...diagnostics, ...found, ...children.diagnostics],
    source: { file, text, prompts, children: children.sources },
  };
}

/** The graph of a source that was kept. */
export async function parseWorkflow(text: string, file: string): Promise<Parsed<Graph>> {
  if (/\.(dot|gv)$/.test(file)) return (await import("../../workflow/dot/parse-dot.js")).parseDot(text, { file });
  return (await import("../../workflow/kdl/parse-kdl.js")).parseKdl(text, { file });
}

function broken(file: string, message: string): LoadedWorkflow {
  const diagnostic: Diagnostic = { severity: "error", rule: "file", message, line: 1, column: 1 };
  return { file, graph: null, diagnostics: [diagnostic], source: { file, text: "", prompts: {}, children: {} } };
}

const maxBytes = 32 * 1024 * 1024;

function readText(file: string): { readonly text: string } | { readonly problem: string } {
  try {
    const found = statSync(file);
    if (!found.isFile()) return { problem: `${file} is not a file` };
    if (found.size > maxBytes) return { problem: `${file} is larger than ${maxBytes} bytes` };
    const bytes = readFileSync(file);
    if (!isUtf8(bytes)) return { problem: `${file} is not text in UTF-8` };
    return { text: bytes.toString("utf8").replace(/^\ufeff/, "") };
  } catch (error) {
    return { problem: codeOf(error) === "ENOENT" ? `there is no ${file}` : messageOf(error) };
  }
}

type Seen = { readonly state: "file"; readonly path: string } | { readonly state: "missing" | "directory" | "outside" };

/** Relative to the workflow's file; inside of the checkout, or beside a workflow that is none of the checkout's. */
function lookAt(name: string, file: string, { root }: WorkflowPlace): Seen {
  const path = resolve(dirname(file), name);
  const within = [dirname(file), ...(root === null ? [] : [root])];
  try {
    const real = realpathSync(path);
    if (!within.some((folder) => isWithin(real, realpathSync(folder)))) return { state: "outside" };
    const found = statSync(real);
    if (found.isDirectory()) return { state: "directory" };
    return found.isFile() ? { state: "file", path: real } : { state: "missing" };
  } catch (error) {
    if (!isNoPath(error)) throw error;
    return { state: within.some((folder) => isWithin(path, folder)) ? "missing" : "outside" };
  }
}

function promptState(seen: Seen): ReturnType<CheckOptions["readable"]> {
  if (seen.state !== "file") return seen.state;
  const read = readText(seen.path);
  if ("problem" in read) return "not-text";
  return read.text.trim() === "" ? "empty" : "file";
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

interface Around {
  readonly file: string;
  readonly place: WorkflowPlace;
}

function promptsOf(graph: Graph, { file, place }: Around): Record<string, string> {
  const names = graph.stages.flatMap((stage) =>
    stage.kind === "llm" && stage.prompt.type === "files" ? stage.prompt.files.map(({ name }) => name) : [],
  );
  const texts: Record<string, string> = {};
  for (const name of new Set(names)) {
    const seen = lookAt(name, file, place);
    if (seen.state === "file") texts[name] = readFileSync(seen.path, "utf8");
  }
  return texts;
}

function findChild(ref: string, file: string, place: WorkflowPlace): string | null {
  return findWorkflow({ ...place, cwd: dirname(file) }, ref) ?? findWorkflow(place, ref);
}

async function childrenOf(graph: Graph, { file, place, callers }: Around & { readonly callers: readonly string[] }) {
  const diagnostics: Diagnostic[] = [];
  const sources: Record<string, WorkflowSource> = {};
  for (const stage of graph.stages) {
    if (stage.kind !== "workflow" || stage.ref.name in sources) continue;
    const found = findChild(stage.ref.name, file, place);
    if (found === null) continue;
    if (callers.includes(realpathSync(found))) {
      diagnostics.push(problem("recursion", `${stage.ref.name} calls itself`, stage.ref.at));
      continue;
    }
    const child = await load(found, place, callers);
    sources[stage.ref.name] = child.source;
    for (const { severity, rule, message, line } of child.diagnostics) {
      if (severity === "error") diagnostics.push(problem(rule, `${found}:${line}: ${message}`, stage.ref.at));
    }
  }
  return { diagnostics, sources };
}

function problem(rule: string, message: string, at: Position): Diagnostic {
  return { severity: "error", rule, message, line: at.line, column: at.column };
}
