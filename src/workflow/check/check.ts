import type { Diagnostic } from "../diagnostic.js";
import type { Graph } from "../graph.js";
import { Problems } from "../problems.js";
import { indexGraph } from "./graph-index.js";
import { checkOwnWays } from "./own-ways.js";
import { checkBranches, checkJoins, checkParallel, checkRetryTargets } from "./parallel-rules.js";
import { checkExits, checkReachable, checkStart, checkWaysOut } from "./path-rules.js";
import { checkDuplicates, checkNames, checkOutcomes, checkTransitions } from "./reference-rules.js";
import type { CheckOptions, Rule } from "./rule.js";
import {
  checkDecisions,
  checkFolders,
  checkGoalGates,
  checkHumans,
  checkKinds,
  checkPromptFiles,
  checkRefs,
  checkWorkspaces,
} from "./stage-rules.js";

/** What must hold for a graph to be run, whatever it was written in. */
const rules: readonly Rule[] = [
  checkStart,
  checkExits,
  checkDuplicates,
  checkTransitions,
  checkOwnWays,
  checkNames,
  checkOutcomes,
  checkReachable,
  checkWaysOut,
  checkDecisions,
  checkHumans,
  checkParallel,
  checkBranches,
  checkRetryTargets,
  checkJoins,
  checkGoalGates,
  checkPromptFiles,
  checkFolders,
  checkRefs,
  checkWorkspaces,
  checkKinds,
];

/** In the order of the file. */
export function check(graph: Graph, options: CheckOptions): Diagnostic[] {
  const problems = new Problems();
  const index = indexGraph(graph);
  for (const rule of rules) rule(index, problems, options);
  return problems.list();
}
