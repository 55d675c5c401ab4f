import type { Named, Position } from "../graph.js";
import type { Problems } from "../problems.js";
import type { Owner } from "./attributes.js";
import type { Document, DotEdge, DotNode, Group } from "./document.js";
import { Lexer } from "./lexer.js";
import { type Attributes, keepsAttribute, readAttributes, readValue } from "./read-attributes.js";
import { isKeyword, isMark, nameOf, type Reading, skipStatement } from "./reading.js";
import type { Token } from "./token.js";
import type { Value } from "./value.js";

const mostNodes = 100_000;
const mostEdges = 100_000;
const mostGroups = 10_000;
const deepest = 32;
const owners: readonly Owner[] = ["graph", "node", "edge"];
const nothing: ReadonlyMap<string, Value> = new Map();

/** What `node […]` and `edge […]` say up to here, in one pair of braces. Replaced, never changed: nodes share it. */
interface Scope {
  readonly group: Group | null;
  nodeDefaults: ReadonlyMap<string, Value>;
  edgeDefaults: ReadonlyMap<string, Value>;
  /** Of a subgraph: it may be an end of an edge. */
  readonly members: Set<string> | null;
  readonly depth: number;
}

interface Reader extends Reading {
  readonly attributes: Attributes;
  readonly nodes: Map<string, DotNode>;
  readonly edges: DotEdge[];
  groups: number;
  /** Too big or too deep: said already, nothing more is read. */
  stopped: boolean;
}

/** One side of an edge: a node, or every node of a subgraph. */
interface End {
  readonly nodes: readonly Named[];
  readonly isGroup: boolean;
}

/**
 * Reads a file into its nodes and edges. Every error is told at its place and reading goes on with the next statement;
 * null only where there is no graph at all, or one beyond all bounds.
 */
export function readDocument(source: string, problems: Problems): Document | null {
  const reader: Reader = {
    lexer: new Lexer(source, problems),
    problems,
    attributes: new Map(),
    nodes: new Map(),
    edges: [],
    groups: 0,
    stopped: false,
  };
  const head = readHead(reader);
  if (head === null) return null;
  const root: Scope = {
    group: null,
    nodeDefaults: new Map(),
    edgeDefaults: new Map(),
    members: null,
    depth: 1,
  };
  readBody(reader, root, head.opened);
  const rest = reader.lexer.peek();
  if (rest.type !== "end" && !reader.stopped)
    problems.error({
      at: rest.at,
      rule: "syntax",
      message: "there is more text after the end of the graph",
      hint: "one digraph a file; look for a } too many",
    });
  if (reader.stopped) return null;
  return { name: head.name, attributes: reader.attributes, nodes: reader.nodes, edges: reader.edges };
}

function readHead(reader: Reader): { readonly name: Named | null; readonly opened: Position } | null {
  const { lexer, problems } = reader;
  if (isKeyword(lexer.peek(), "strict")) lexer.take();
  const first = lexer.peek();
  if (isKeyword(first, "digraph")) lexer.take();
  else if (isKeyword(first, "graph")) {
    lexer.take();
    problems.error({
      at: first.at,
      rule: "syntax",
      message: "an undirected graph has no order to run in",
      hint: "write digraph",
    });
  } else {
    const message = first.type === "end" ? "the file has no graph" : `expected digraph, found ${nameOf(first)}`;
    problems.error({ at: first.at, rule: "syntax", message, hint: "a workflow is written digraph name { … }" });
  }
  let name: Named | null = null;
  for (;;) {
    const token = lexer.take();
    if (token.type === "end") {
      if (!problems.hasErrors())
        problems.error({ at: token.at, rule: "syntax", message: "the file ends before the graph's {" });
      return null;
    }
    if (isMark(token, "{")) return { name, opened: token.at };
    if (token.type === "word" || token.type === "quoted") name ??= { name: token.text, at: token.at };
  }
}

/** Statements up to the closing brace, which is taken. */
function readBody(reader: Reader, scope: Scope, opened: Position): void {
  const { lexer, problems } = reader;
  for (;;) {
    if (reader.stopped || problems.isFull()) {
      stop(reader);
      return;
    }
    const token = lexer.peek();
    if (token.type === "end") {
      problems.error({
        at: token.at,
        rule: "syntax",
        message: `the { of line ${opened.line} is never closed`,
        hint: "add a }",
      });
      return;
    }
    if (isMark(token, "}")) {
      lexer.take();
      return;
    }
    readStatement(reader, scope);
  }
}

function readStatement(reader: Reader, scope: Scope): void {
  const { lexer } = reader;
  const token = lexer.peek();
  if (isMark(token, ";") || isMark(token, ",")) {
    lexer.take();
    return;
  }
  for (const owner of owners) {
    if (!isKeyword(token, owner)) continue;
    lexer.take();
    readDefaults(reader, scope, owner);
    return;
  }
  if (token.type === "word" || token.type === "quoted") {
    if (isKeyword(token, "subgraph")) {
      readEdges(reader, scope, readEnd(reader, scope));
      return;
    }
    lexer.take();
    if (isMark(lexer.peek(), "=")) {
      assign(reader, scope, token);
      return;
    }
    readEdges(reader, scope, readNode(reader, scope, token));
    return;
  }
  if (isMark(token, "{")) {
    readEdges(reader, scope, readEnd(reader, scope));
    return;
  }
  skipStatement(reader, "a node, an edge or an attribute");
}

function readDefaults(reader: Reader, scope: Scope, owner: Owner): void {
  if (!isMark(reader.lexer.peek(), "[")) {
    skipStatement(reader, `[ after ${owner}`);
    return;
  }
  const attributes = readAttributes(reader, owner);
  if (owner === "graph") for (const [key, value] of attributes) setGraphAttribute(reader, scope, { key, value });
  else if (owner === "node") scope.nodeDefaults = overlay(scope.nodeDefaults, attributes);
  else scope.edgeDefaults = overlay(scope.edgeDefaults, attributes);
}

/** `key = value` on its own. */
function assign(reader: Reader, scope: Scope, key: Token): void {
  reader.lexer.take();
  const value = readValue(reader, key);
  if (value !== null && keepsAttribute(reader, "graph", { key: key.text, value }))
    setGraphAttribute(reader, scope, { key: key.text, value });
}

/** In a subgraph only the label counts: it names a class. */
function setGraphAttribute(reader: Reader, scope: Scope, { key, value }: { key: string; value: Value }): void {
  if (scope.group === null) reader.attributes.set(key, value);
  else if (key === "label") scope.group.label = value.text;
  else
    reader.problems.warning({
      at: value.keyAt,
      rule: "no-effect",
      message: `${key} of a subgraph changes nothing`,
      hint: "set it for the whole graph, or by node [ … ] for the nodes of the subgraph",
    });
}

/** The rest of a statement that began with one end: `-> … -> … [ … ]`, or a node's own attributes. */
function readEdges(reader: Reader, scope: Scope, first: End): void {
  const { lexer, problems } = reader;
  const ends = [first];
  for (let mark = lexer.peek(); isMark(mark, "->") || isMark(mark, "--"); mark = lexer.peek()) {
    lexer.take();
    if (mark.text === "--")
      problems.error({
        at: mark.at,
        rule: "syntax",
        message: "an edge needs a direction",
        hint: "write -> in place of --",
      });
    const next = lexer.peek();
    if (next.type !== "word" && next.type !== "quoted" && !isMark(next, "{")) {
      skipStatement(reader, "a node after ->");
      return;
    }
    ends.push(readEnd(reader, scope));
    if (ends.length > mostEdges) {
      tooBig(reader, mark.at, `more than ${mostEdges} edges`);
      return;
    }
  }
  const hasBlock = isMark(lexer.peek(), "[");
  const attributes = hasBlock ? readAttributes(reader, ends.length > 1 ? "edge" : "node") : nothing;
  if (ends.length > 1) {
    addEdges(reader, ends, overlay(scope.edgeDefaults, attributes));
    return;
  }
  const only = first.nodes[0];
  if (first.isGroup || only === undefined) return;
  const node = reader.nodes.get(only.name);
  if (node !== undefined) declare(node, { at: only.at, attributes, defaults: scope.nodeDefaults });
}

function readEnd(reader: Reader, scope: Scope): End {
  const { lexer } = reader;
  const token = lexer.take();
  if (!isKeyword(token, "subgraph") && !isMark(token, "{")) return readNode(reader, scope, token);
  if (isMark(token, "{")) return readGroup(reader, scope, token.at);
  if (lexer.peek().type === "word" || lexer.peek().type === "quoted") lexer.take();
  if (isMark(lexer.peek(), "{")) return readGroup(reader, scope, lexer.take().at);
  skipStatement(reader, "{ after subgraph");
  return { nodes: [], isGroup: true };
}

function readGroup(reader: Reader, outer: Scope, opened: Position): End {
  if (outer.depth >= deepest) {
    tooBig(reader, opened, `subgraphs nested more than ${deepest} deep`);
    return { nodes: [], isGroup: true };
  }
  reader.groups++;
  if (reader.groups > mostGroups) tooBig(reader, opened, `more than ${mostGroups} subgraphs`);
  const members = new Set<string>();
  const inner: Scope = {
    group: { label: null, parent: outer.group },
    nodeDefaults: outer.nodeDefaults,
    edgeDefaults: outer.edgeDefaults,
    members,
    depth: outer.depth + 1,
  };
  readBody(reader, inner, opened);
  for (const member of members) outer.members?.add(member);
  return { nodes: [...members].map((name) => ({ name, at: opened })), isGroup: true };
}

/** A node's id and its ports, which only say where Graphviz draws the line. */
function readNode(reader: Reader, scope: Scope, token: Token): End {
  const { lexer } = reader;
  while (isMark(lexer.peek(), ":")) {
    lexer.take();
    if (lexer.peek().type === "word" || lexer.peek().type === "quoted") lexer.take();
  }
  const at = token.at;
  return { nodes: [{ name: mention(reader, scope, { name: token.text, at }), at }], isGroup: false };
}

/** Its id, one and the same string for every mention: the tables of a large graph are quicker to look into that way. */
function mention(reader: Reader, scope: Scope, { name, at }: Named): string {
  const node = reader.nodes.get(name) ?? addNode(reader, scope, { name, at });
  if (node === null) return name;
  scope.members?.add(node.id);
  if (scope.group !== null) {
    node.groups ??= new Set();
    node.groups.add(scope.group);
  }
  return node.id;
}

function addNode(reader: Reader, scope: Scope, { name, at }: Named): DotNode | null {
  if (reader.nodes.size >= mostNodes) {
    tooBig(reader, at, `more than ${mostNodes} nodes`);
    return null;
  }
  const inherited = scope.nodeDefaults;
  const node: DotNode = { id: name, at, declared: false, own: nothing, inherited, groups: null };
  reader.nodes.set(name, node);
  return node;
}

/** A node may have several statements: the place is the first one's, a later attribute wins. */
function declare(
  node: DotNode,
  {
    at,
    attributes,
    defaults,
  }: { readonly at: Position } & Record<"attributes" | "defaults", ReadonlyMap<string, Value>>,
): void {
  if (!node.declared) node.at = at;
  node.declared = true;
  if (node.inherited !== defaults) node.inherited = overlay(node.inherited, defaults);
  node.own = overlay(node.own, attributes);
}

function overlay(under: ReadonlyMap<string, Value>, over: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> {
  if (over.size === 0) return under;
  return under.size === 0 ? over : new Map([...under, ...over]);
}

function addEdges(reader: Reader, ends: readonly End[], attributes: ReadonlyMap<string, Value>): void {
  for (let index = 1; index < ends.length; index++) {
    const from = ends[index - 1]?.nodes ?? [];
    const to = ends[index]?.nodes ?? [];
    if (reader.edges.length + from.length * to.length > mostEdges) {
      const at = to[0]?.at ?? from[0]?.at;
      if (at !== undefined) tooBig(reader, at, `more than ${mostEdges} edges`);
      return;
    }
    for (const source of from) for (const target of to) reader.edges.push({ from: source, to: target, attributes });
  }
}

function tooBig(reader: Reader, at: Position, message: string): void {
  if (!reader.stopped) reader.problems.error({ at, rule: "too-big", message });
  stop(reader);
}

function stop(reader: Reader): void {
  reader.stopped = true;
  reader.lexer.stop();
}
