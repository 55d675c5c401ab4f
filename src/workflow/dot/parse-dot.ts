import { nearest } from "../../core/suggest.js";
import type { Parsed } from "../diagnostic.js";
import type { Graph, HumanOption, Named, Stage } from "../graph.js";
import { Problems } from "../problems.js";
import type { Document, DotNode } from "./document.js";
import { Fields } from "./fields.js";
import { optionsOf } from "./gates.js";
import { JoinFinder } from "./joins.js";
import { attributeOf, type Planned, planNodes } from "./plan.js";
import { readDocument } from "./read-document.js";
import { type JoinPolicy, joinPolicy, makeStage, type Surroundings } from "./stages.js";
import { parseStylesheet, type Stylesheet } from "./stylesheet.js";
import { type EdgeReading, readEdges } from "./transitions.js";
import { positionIn } from "./value.js";

interface Made {
  readonly source: string;
  readonly problems: Problems;
  readonly document: Document;
  readonly planned: ReadonlyMap<string, Planned>;
  readonly graph: Fields;
  readonly edges: EdgeReading;
}

/**
 * A pipeline in the DOT of Attractor's specification as a workflow. The file is read to its end whatever is wrong with
 * it; what the graph as a whole must be (one start, a way to an exit, known targets) is the checker's business.
 */
export function parseDot(text: string, { file }: { readonly file: string }): Parsed<Graph> {
  const problems = new Problems();
  const document = readDocument(text, problems);
  if (document === null) return { graph: null, diagnostics: problems.list() };
  const planned = planNodes(document);
  const graph = new Fields((key) => document.attributes.get(key), problems);
  const edges = readEdges({ source: text, edges: document.edges, planned, problems });
  const made: Made = { source: text, problems, document, planned, graph, edges };
  tellUndeclared(made);
  const around = surroundingsOf(made);
  const stages = [...planned.values()].map((plan) => makeStage(plan, around));
  return {
    graph: {
      name: document.name?.name || nameOfFile(file),
      format: "dot",
      file,
      goal: graph.text("goal"),
      label: graph.text("label"),
      start: startOf(made, stages),
      stages,
      transitions: edges.transitions,
      retryTarget: graph.named("retry_target"),
      fallbackRetryTarget: graph.named("fallback_retry_target"),
    },
    diagnostics: problems.list(),
  };
}

function nameOfFile(file: string): string {
  return file.replace(/^.*[/\\]/, "").replace(/\.\w+$/, "") || "workflow";
}

function surroundingsOf(made: Made): Surroundings {
  const { problems, graph, planned, edges, document } = made;
  const known = new Map<string, readonly string[]>();
  const next = (id: string): readonly string[] => {
    const ways = planned.get(id)?.kind === "parallel" ? edges.branches.get(id) : planned.get(id)?.outgoing;
    const names = known.get(id) ?? (ways ?? []).map(({ to }) => to.name);
    known.set(id, names);
    return names;
  };
  const joins = new JoinFinder({
    kindOf: (id) => planned.get(id)?.kind ?? null,
    next,
    named: (id) => nameIn(planned.get(id), "join"),
    size: document.nodes.size + document.edges.length,
  });
  const joined = joinedIn(made, joins);
  const options = new Map<string, readonly HumanOption[]>();
  for (const [id, answers] of edges.answers) options.set(id, optionsOf(answers));
  return {
    problems,
    graph,
    sheet: stylesheetOf(made),
    defaultFidelity: graph.fidelity("default_fidelity"),
    defaultMaxRetries: graph.count("default_max_retries") ?? graph.count("default_max_retry"),
    optionsOf: (id) => options.get(id) ?? [],
    branchesOf: (id) => branchesOf(edges, id),
    joinOf: (id) => joins.joinOf(id),
    policyFor: (join) => joined.get(join)?.policy ?? null,
    branchesInto: (join) => joined.get(join)?.branches ?? 0,
  };
}

function branchesOf(edges: EdgeReading, id: string): Named[] {
  return edges.branches.get(id)?.map(({ to }) => to) ?? [];
}

function nameIn(plan: Planned | undefined, key: string): string | null {
  return (plan === undefined ? undefined : attributeOf(plan.node, key))?.text.trim() || null;
}

interface Joined {
  readonly policy: JoinPolicy | null;
  readonly branches: number;
}

/** What ends at each join. Attractor writes its policy at the parallel stage. */
function joinedIn({ planned, problems, edges }: Made, joins: JoinFinder): Map<string, Joined> {
  const joined = new Map<string, Joined>();
  for (const [id, plan] of planned) {
    if (plan.kind !== "parallel") continue;
    const join = joins.joinOf(id);
    const fields = new Fields((key) => attributeOf(plan.node, key), problems);
    const count = branchesOf(edges, id).length;
    const policy = joinPolicy(fields, count);
    if (join === null) continue;
    const known = joined.get(join);
    joined.set(join, { policy: policy ?? known?.policy ?? null, branches: Math.max(count, known?.branches ?? 0) });
  }
  return joined;
}

function stylesheetOf({ source, graph, problems }: Made): Stylesheet {
  const value = graph.value("model_stylesheet");
  const { sheet, problems: found } = parseStylesheet(value?.text ?? "");
  for (const { severity, index, message, hint } of found) {
    const at = value === undefined ? { line: 1, column: 1 } : positionIn(source, value, index);
    const problem = { at, rule: "stylesheet", message, ...(hint === undefined ? {} : { hint }) };
    if (severity === "error") problems.error(problem);
    else problems.warning(problem);
  }
  return sheet;
}

/** Named by the graph, else the node of shape Mdiamond, else the one called start. */
function startOf({ graph, document, problems }: Made, stages: readonly Stage[]): Named {
  const named = graph.named("start");
  if (named !== null) return named;
  const stage = stages.find(({ kind }) => kind === "start") ?? stages.find(({ id }) => /^start$/i.test(id));
  if (stage !== undefined) return { name: stage.id, at: stage.at };
  const at = document.name?.at ?? { line: 1, column: 1 };
  problems.error({ at, rule: "start", message: "there is no start", hint: "add a node of shape Mdiamond" });
  return { name: "", at };
}

/**
 * Nodes that only edges name. One with a way on is a stage, as in every DOT file, and its name is its prompt, unless it
 * inherits one; where nothing leads on it is a misspelt target rather than the end of the work.
 */
function tellUndeclared({ planned, problems, document }: Made): void {
  let declared: string[] | null = null;
  for (const { node, kind, outgoing } of planned.values()) {
    if (node.declared || kind === "start" || kind === "exit") continue;
    declared ??= [...document.nodes.values()].filter((other) => other.declared).map(({ id }) => id);
    const meant = node.id.length < 3 || declared.length > 1000 ? null : nearest(node.id, declared);
    const hint = meant === null ? {} : { hint: `did you mean ${meant}?` };
    if (outgoing.length === 0)
      problems.error({ at: node.at, rule: "unknown-stage", message: `there is no stage "${node.id}"`, ...hint });
    else if (kind === "llm" && !isToldMore(node))
      problems.warning({
        at: node.at,
        rule: "undeclared",
        message: `${node.id} is only named in edges: its name is all that the agent is told`,
        ...hint,
      });
    else if (meant !== null)
      problems.warning({ at: node.at, rule: "undeclared", message: `${node.id} is only named in edges`, ...hint });
  }
}

/** By `node [ … ]` around it. */
function isToldMore({ inherited }: DotNode): boolean {
  return ["prompt", "prompt_file", "label"].some((key) => (inherited.get(key)?.text ?? "").trim() !== "");
}
