import type { Named, Position } from "../graph.js";
import type { Value } from "./value.js";

/** A DOT file as it is written: defaults and subgraphs resolved, attributes still texts. */
export interface Document {
  readonly name: Named | null;
  readonly attributes: ReadonlyMap<string, Value>;
  /** By id, in the order in which they are first named. */
  readonly nodes: ReadonlyMap<string, DotNode>;
  readonly edges: readonly DotEdge[];
}

export interface DotNode {
  readonly id: string;
  /** Of its own statement, else of the edge that names it first. */
  at: Position;
  /** It has a statement of its own. */
  declared: boolean;
  own: ReadonlyMap<string, Value>;
  /** From `node […]`. */
  inherited: ReadonlyMap<string, Value>;
  /** The subgraphs that it is named in, the innermost of each place. */
  groups: Set<Group> | null;
}

export interface DotEdge {
  readonly from: Named;
  readonly to: Named;
  readonly attributes: ReadonlyMap<string, Value>;
}

/** A subgraph; its label becomes a class of its nodes. */
export interface Group {
  label: string | null;
  readonly parent: Group | null;
}

/** The classes that the subgraphs around a node give it: "Loop A" → `loop-a`. The innermost first. */
export function groupClasses(node: DotNode): string[] {
  const classes = new Set<string>();
  for (const group of node.groups ?? []) {
    for (let at: Group | null = group; at !== null; at = at.parent) {
      const name = at.label === null ? "" : className(at.label);
      if (name !== "") classes.add(name);
    }
  }
  return [...classes];
}

function className(label: string): string {
  return label
    .toLowerCase()
    .trim()
    .replace(/\s+/g, "-")
    .replace(/[^a-z0-9-]/g, "");
}
