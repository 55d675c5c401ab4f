import type { StageKind } from "../graph.js";

/** Attractor's shapes and what they stand for. */
const ofShape: Readonly<Record<string, StageKind>> = {
  Mdiamond: "start",
  Msquare: "exit",
  box: "llm",
  rect: "llm",
  rectangle: "llm",
  hexagon: "human",
  diamond: "decision",
  component: "parallel",
  tripleoctagon: "join",
  parallelogram: "tool",
  house: "workflow",
};

/** Attractor's handler types, and our own names of the kinds. */
const ofType: Readonly<Record<string, StageKind>> = {
  start: "start",
  exit: "exit",
  codergen: "llm",
  llm: "llm",
  "wait.human": "human",
  human: "human",
  conditional: "decision",
  decision: "decision",
  parallel: "parallel",
  "parallel.fan_in": "join",
  join: "join",
  tool: "tool",
  "stack.manager_loop": "workflow",
  workflow: "workflow",
  "workspace.create": "workspace.create",
  "workspace.merge": "workspace.merge",
  "workspace.cleanup": "workspace.cleanup",
};

export function kindOfShape(shape: string): StageKind | null {
  return Object.hasOwn(ofShape, shape) ? (ofShape[shape] ?? null) : null;
}

export function kindOfType(type: string): StageKind | null {
  return Object.hasOwn(ofType, type) ? (ofType[type] ?? null) : null;
}

/** Every type that a node may have. */
export const handlerTypes: readonly string[] = Object.keys(ofType);
