import { nearest } from "../../core/suggest.js";
import type { Problems } from "../problems.js";
import type { GraphIndex } from "./graph-index.js";

export interface CheckOptions {
  /** Of a prompt file as it is named, relative to the workflow's own. */
  readonly readable: (path: string) => "file" | "missing" | "directory" | "outside" | "empty" | "not-text";
  /** Whether there is a workflow of this name or file. */
  readonly workflowExists?: (ref: string) => boolean;
}

export type Rule = (index: GraphIndex, problems: Problems, options: CheckOptions) => void;

/** The id that was most likely meant. */
export function suggestStage(name: string, { stages }: GraphIndex): { hint?: string } {
  // Of two letters, one is already half of the name.
  const near = name.length < 3 ? null : nearest(name, stages.keys());
  return near === null ? {} : { hint: `did you mean "${near}"?` };
}
