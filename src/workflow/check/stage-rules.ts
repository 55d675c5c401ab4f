import type { HumanStage, Stage } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { Rule } from "./rule.js";

/** In KDL a decision always decides: exactly one route is open whatever happened. DOT's may have none. */
export const checkDecisions: Rule = ({ graph, ofKind, leaving }, problems) => {
  if (graph.format !== "kdl") return;
  for (const { id, at } of ofKind("decision")) {
    const open = (leaving.get(id) ?? []).filter(({ when }) => when === null);
    if (open.length === 0) {
      const hint = 'add route when="true" to="…"';
      problems.error({
        at,
        rule: "decision-default",
        message: `decision "${id}" has no route that is always open`,
        hint,
      });
    }
    for (const route of open.slice(1)) {
      const message = `decision "${id}" has a second route that is always open`;
      problems.error({ at: route.at, rule: "decision-default", message, hint: "only the first would be taken" });
    }
  }
};

export const checkHumans: Rule = ({ graph, ofKind }, problems) => {
  for (const stage of ofKind("human")) {
    if (stage.kind !== "human") continue;
    const least = graph.format === "kdl" ? 2 : 1;
    if (stage.options.length < least) {
      const message = `human stage "${stage.id}" has ${stage.options.length} of at least ${least} options`;
      problems.error({ at: stage.at, rule: "human-options", message, hint: 'add option "key" label="…" to="…"' });
    }
    const keys = new Set<string>();
    for (const { key, to } of stage.options) {
      if (keys.has(key))
        problems.error({ at: to.at, rule: "duplicate-option", message: `"${stage.id}" has two options "${key}"` });
      keys.add(key);
    }
    if (stage.default !== null) checkDefault(stage.default, stage, problems);
    for (const named of stage.requireFeedbackOn) mustBeOption(named, { stage, role: "require_feedback_on", problems });
  }
};

/** It is taken when time runs out, and at no other moment. */
function checkDefault(named: Named, stage: HumanStage, problems: Problems): void {
  if (!mustBeOption(named, { stage, role: "default", problems })) return;
  if (stage.timeoutMs !== null && stage.requireFeedbackOn.some(({ name }) => name === named.name)) {
    const message = `default "${named.name}" of "${stage.id}" requires feedback, and nobody gives any when time runs out`;
    problems.warning({ at: named.at, rule: "default-feedback", message, hint: "it is taken without" });
  }
  if (stage.timeoutMs !== null) return;
  const message = `default "${named.name}" of "${stage.id}" is never taken: there is no timeout`;
  problems.warning({ at: named.at, rule: "no-effect", message, hint: 'add timeout="…"' });
}

interface OptionReference {
  readonly stage: HumanStage;
  readonly role: string;
  readonly problems: Problems;
}

function mustBeOption({ name, at }: Named, { stage, role, problems }: OptionReference): boolean {
  if (stage.options.some(({ key }) => key === name)) return true;
  const hint = `options are ${stage.options.map(({ key }) => `"${key}"`).join(", ")}`;
  problems.error({ at, rule: "unknown-option", message: `${role} "${name}" is no option of "${stage.id}"`, hint });
  return false;
}

/** A gate that fails with nowhere to go ends the run. */
export const checkGoalGates: Rule = ({ graph }, problems) => {
  if (graph.retryTarget !== null || graph.fallbackRetryTarget !== null) return;
  for (const { id, at, goalGate, retryTarget, fallbackRetryTarget } of graph.stages)
    if (goalGate && retryTarget === null && fallbackRetryTarget === null) {
      const message = `goal gate "${id}" has no retry target: when it is unmet, the run fails`;
      problems.warning({ at, rule: "goal-gate", message, hint: "add retry_target" });
    }
};

const unreadable = {
  missing: "does not exist",
  directory: "is a folder",
  outside: "is outside of the repository",
  empty: "is empty",
  "not-text": "is not text in UTF-8",
} as const;

export const checkPromptFiles: Rule = ({ ofKind }, problems, { readable }) => {
  const known = new Map<string, ReturnType<typeof readable>>();
  for (const stage of ofKind("llm")) {
    if (stage.kind !== "llm" || stage.prompt.type !== "files") continue;
    for (const { name, at } of stage.prompt.files) {
      const state = known.get(name) ?? readable(name);
      known.set(name, state);
      if (state === "file") continue;
      const message = `prompt file "${name}" of stage "${stage.id}" ${unreadable[state]}`;
      problems.error({ at, rule: "prompt-file", message, hint: "paths are relative to the workflow's file" });
    }
  }
};

/** A tool works inside of the checkout. Where links lead is seen when it starts. */
export const checkFolders: Rule = ({ ofKind }, problems) => {
  for (const stage of ofKind("tool")) {
    if (stage.kind !== "tool" || stage.cwd === null || !leadsOut(stage.cwd)) continue;
    const message = `cwd "${stage.cwd}" of stage "${stage.id}" leads out of the checkout`;
    problems.error({ at: stage.at, rule: "cwd", message, hint: "it is relative to the top of the checkout" });
  }
};

function leadsOut(cwd: string): boolean {
  let depth = 0;
  for (const part of cwd.split("/")) {
    if (part === "..") depth -= 1;
    else if (part !== "" && part !== ".") depth += 1;
    if (depth < 0) return !cwd.startsWith("/");
  }
  return false;
}

export const checkRefs: Rule = ({ ofKind }, problems, { workflowExists }) => {
  if (workflowExists === undefined) return;
  for (const stage of ofKind("workflow")) {
    if (stage.kind !== "workflow" || stage.ref.name === "" || workflowExists(stage.ref.name)) continue;
    const message = `there is no workflow "${stage.ref.name}" for stage "${stage.id}"`;
    problems.error({ at: stage.ref.at, rule: "unknown-workflow", message, hint: "ratchet workflow list shows all" });
  }
};

export const checkWorkspaces: Rule = ({ ofKind }, problems) => {
  const made = new Set(ofKind("workspace.create").flatMap((stage) => (isCreate(stage) ? [stage.workspace] : [])));
  for (const stage of [...ofKind("workspace.merge"), ...ofKind("workspace.cleanup")]) {
    if (stage.kind !== "workspace.merge" && stage.kind !== "workspace.cleanup") continue;
    if (made.has(stage.workspace)) continue;
    const message = `stage "${stage.id}" uses workspace "${stage.workspace}", which no stage creates`;
    problems.warning({
      at: stage.at,
      rule: "workspace",
      message,
      hint: 'add a stage of kind "workspace.create" before it',
    });
  }
};

function isCreate(stage: Stage): stage is Extract<Stage, { workspace: string }> {
  return stage.kind === "workspace.create";
}

/** Told by the KDL parser as an error. */
export const checkKinds: Rule = ({ graph, ofKind }, problems) => {
  if (graph.format !== "dot") return;
  for (const stage of ofKind("unknown"))
    if (stage.kind === "unknown")
      problems.warning({
        at: stage.at,
        rule: "unknown-kind",
        message: `stage "${stage.id}" has unknown type "${stage.type}"`,
        hint: "it cannot be run",
      });
};
