import type { StageKind } from "../graph.js";
import type { Document, DotEdge, DotNode } from "./document.js";
import { kindOfShape, kindOfType } from "./kinds.js";
import type { Value } from "./value.js";

/** A node and what it turns out to be. */
export interface Planned {
  readonly node: DotNode;
  readonly kind: StageKind;
  /** For stylesheets. */
  readonly shape: string;
  /** Of an unknown kind: the word that nobody knows. */
  readonly word: string | null;
  readonly outgoing: readonly DotEdge[];
  readonly incoming: number;
}

/** An attribute of a node: its own, else the one it inherits. */
export function attributeOf(node: DotNode, key: string): Value | undefined {
  return node.own.get(key) ?? node.inherited.get(key);
}

/** Decides what each node is: by its type, else by its shape, else by being called start, exit or end. */
export function planNodes(document: Document): Map<string, Planned> {
  const outgoing = new Map<string, DotEdge[]>();
  const incoming = new Map<string, number>();
  for (const edge of document.edges) {
    const edges = outgoing.get(edge.from.name);
    if (edges === undefined) outgoing.set(edge.from.name, [edge]);
    else edges.push(edge);
    incoming.set(edge.to.name, (incoming.get(edge.to.name) ?? 0) + 1);
  }
  const planned = new Map<string, Planned>();
  for (const node of document.nodes.values()) {
    const { kind, shape, word } = decideKind(node);
    const wiring = { outgoing: outgoing.get(node.id) ?? [], incoming: incoming.get(node.id) ?? 0 };
    planned.set(node.id, { node, kind, shape, word, ...wiring });
  }
  return takeByName(planned);
}

function decideKind(node: DotNode): Pick<Planned, "kind" | "shape" | "word"> {
  const type = attributeOf(node, "type");
  const written = attributeOf(node, "shape");
  const shape = written?.text.trim() || "box";
  if (type !== undefined && type.text.trim() !== "") {
    const kind = kindOfType(type.text.trim());
    return { kind: kind ?? "unknown", shape, word: kind === null ? type.text : null };
  }
  const kind = kindOfShape(shape);
  if (kind !== null || written === undefined) return { kind: kind ?? "llm", shape, word: null };
  return { kind: "unknown", shape, word: written.text };
}

/** Nodes that only their names make a start or an exit: nothing says that they do any work. */
function takeByName(planned: Map<string, Planned>): Map<string, Planned> {
  let hasStart = false;
  for (const { kind } of planned.values()) hasStart ||= kind === "start";
  for (const [id, plan] of planned) {
    if (plan.kind !== "llm" || plan.node.own.has("type") || plan.node.own.has("prompt")) continue;
    if (plan.node.own.has("prompt_file")) continue;
    if (/^start$/i.test(id) && !hasStart && plan.incoming === 0) {
      planned.set(id, { ...plan, kind: "start" });
      hasStart = true;
    } else if (/^(?:exit|end)$/i.test(id) && plan.outgoing.length === 0) planned.set(id, { ...plan, kind: "exit" });
  }
  return planned;
}
