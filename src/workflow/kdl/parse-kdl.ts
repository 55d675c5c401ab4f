import type { Parsed } from "../diagnostic.js";
import type { Graph, Stage } from "../graph.js";
import { Problems } from "../problems.js";
import { readDocument } from "./document.js";
import { readStage } from "./kinds.js";
import { readModels } from "./models.js";
import type { KdlNode } from "./node.js";
import { name, readName, readProperties, refuseUnknown, text, toNamed, whole } from "./properties.js";
import { addWay, need, type Reading, refuseArgs, wayProperties } from "./reading.js";

/** A workflow written in KDL. Every error is told at its place, and one error does not hide the others. */
export function parseKdl(source: string, { file }: { readonly file: string }): Parsed<Graph> {
  const problems = new Problems();
  const nodes = readDocument(source, problems);
  const root = nodes === null ? null : findRoot(nodes, problems);
  const graph = root === null ? null : readWorkflow(root, file, problems);
  return { graph, diagnostics: problems.list() };
}

function findRoot(nodes: readonly KdlNode[], problems: Problems): KdlNode | null {
  const [root, second] = nodes.filter((node) => node.name === "workflow");
  if (second !== undefined)
    problems.error({
      at: second.at,
      rule: "syntax",
      message: "a file has one workflow",
      hint: "put it into a file of its own",
    });
  for (const node of nodes)
    if (node.name !== "workflow")
      problems.error({
        at: node.at,
        rule: "unknown-node",
        message: `unknown node "${node.name.slice(0, 60)}"`,
        hint: rootHint,
      });
  if (root === undefined && nodes.length === 0)
    problems.error({ at: { line: 1, column: 1 }, rule: "syntax", message: "there is no workflow", hint: rootHint });
  return root ?? null;
}

const rootHint = 'a file is workflow "name" { version 2; start "stage"; stage …; transition … }';

const workflowProperties = {
  version: whole,
  description: text,
  goal: text,
  start: name,
  retry_target: name,
  fallback_retry_target: name,
};
const transitionProperties = { from: name, ...wayProperties };
const transitionNames = Object.keys(transitionProperties);

function readWorkflow(root: KdlNode, file: string, problems: Problems): Graph | null {
  const id = readName(root, problems);
  const what = "the workflow";
  const get = readProperties(root, { what, properties: workflowProperties }, problems);
  const children = ["models", "stage", "transition"];
  refuseUnknown(root, { what, properties: Object.keys(workflowProperties), children }, problems);
  const version = need(get("version"), { node: root, key: "version", what }, problems);
  if (version !== null && version.value !== 2)
    problems.error({
      at: version.at,
      rule: "version",
      message: `version ${version.value} is unknown`,
      hint: "write version 2",
    });
  const { stages, transitions } = readBody(root, problems);
  const start = toNamed(need(get("start"), { node: root, key: "start", what }, problems));
  const first = stages[0];
  if (first === undefined) problems.error({ at: root.at, rule: "missing", message: "the workflow has no stages" });
  if (first === undefined || id === null || problems.isFull()) return null;
  return {
    name: id.name,
    format: "kdl",
    file,
    goal: get("goal")?.value ?? null,
    label: get("description")?.value ?? null,
    start: start ?? { name: first.id, at: root.at },
    stages,
    transitions,
    retryTarget: toNamed(get("retry_target")),
    fallbackRetryTarget: toNamed(get("fallback_retry_target")),
  };
}

function readBody(root: KdlNode, problems: Problems): { stages: Stage[]; transitions: Graph["transitions"] } {
  const models = readModels(
    root.children.filter((node) => node.name === "models"),
    problems,
  );
  const reading: Reading = { problems, models, transitions: [] };
  const stages: Stage[] = [];
  for (const node of root.children) {
    if (problems.isFull()) break;
    const stage = node.name === "stage" ? readStage(node, reading) : null;
    if (stage !== null) stages.push(stage);
    if (node.name === "transition") readTransition(node, reading);
  }
  return { stages, transitions: reading.transitions };
}

function readTransition(node: KdlNode, reading: Reading): void {
  const what = "a transition";
  const get = readProperties(node, { what, properties: transitionProperties }, reading.problems);
  refuseUnknown(node, { what, properties: transitionNames, children: [] }, reading.problems);
  refuseArgs(node, reading.problems);
  const from = toNamed(need(get("from"), { node, key: "from", what }, reading.problems));
  addWay({ node, what, from, get }, reading);
}
