import { join } from "node:path";
import { Bug } from "../../lib/errors.js";
import { writeDurably } from "../../lib/files.js";
import { continuePrompt, findingsBudgetBytes } from "../../prompts/prompts.js";
import { type ContextDetail, stageContext, stagePrompt } from "../../prompts/stage.js";
import { type StageFinding, stageFindingsSection } from "../../prompts/stage-findings.js";
import { contextOf, reviewFindings, textOf } from "../../workflow/context.js";
import { referencesIn } from "../../workflow/expand.js";
import type { Fidelity, LlmStage, Stage } from "../../workflow/graph.js";
import type { StageTurnEffect } from "../../workflow/machine/effects.js";
import { endedStages } from "../../workflow/machine/state.js";
import type { WorkflowContext } from "./context.js";
import { expandText } from "./expansion.js";
import { wholeText } from "./texts.js";

/** The prompt of a stage, from the context and the ledger as they are when it starts. */
export async function renderStagePrompt(
  context: WorkflowContext,
  effect: StageTurnEffect,
  folder: string,
): Promise<string> {
  const { run, graph } = context;
  const stage = llmOf(graph.stages.find(({ id }) => id === effect.stage));
  if (effect.prompt === "continue") {
    const issueId = context.issueId === "" ? `${graph.name}/${stage.id}` : context.issueId;
    const { idle_timeout_seconds: idleSeconds } = run.settings;
    return continuePrompt({ issueId, interrupted: effect.interrupted, idleSeconds }, run.templates);
  }
  const findings = effect.findings ? await findingsText(context, folder) : "";
  const written = promptText(context, stage);
  const data = {
    prompt: await expandText(context, written, effect.token),
    context: contextText(context, effect, written),
    findings,
    isReview: effect.review,
    labels: labelsOf(context, stage),
    projectText: run.projectText,
  };
  return run.redact(stagePrompt(data, run.templates));
}

function llmOf(stage: Stage | undefined): LlmStage {
  if (stage?.kind !== "llm") throw new Bug("a turn of a stage that has no prompt");
  return stage;
}

function promptText({ source }: WorkflowContext, { id, prompt }: LlmStage): string {
  if (prompt.type === "text") return prompt.text;
  const texts = prompt.files.map(({ name }) => {
    const text = source.prompts[name];
    if (text === undefined) throw new Error(`the prompt file ${name} of stage ${id} is missing`);
    return text.trimEnd();
  });
  return texts.join("\n\n");
}

/** Where the stage may choose among ways on. */
function labelsOf({ graph }: WorkflowContext, stage: Stage): string[] {
  const ways = graph.transitions.filter(({ from, when }) => from.name === stage.id && when === null);
  return ways.flatMap(({ label }) => (label === null || label === "" ? [] : [label]));
}

const details: Readonly<Record<Exclude<Fidelity, "full">, ContextDetail>> = {
  truncate: "goal",
  compact: "compact",
  "summary:low": "low",
  "summary:medium": "medium",
  "summary:high": "high",
};

/** A session that goes on knows what was before. */
function detailOf({ fidelity, session }: StageTurnEffect): ContextDetail {
  if (fidelity === "full") return session === null ? "compact" : "none";
  return details[fidelity];
}

/** What reviews said is told as findings, to whom it concerns. A review judges what is there, not what others said. */
function contextText(context: WorkflowContext, effect: StageTurnEffect, written: string): string {
  const { graph, life } = context;
  const view = contextOf(life(), graph, effect.token);
  const judged = graph.stages.flatMap((stage) => (stage.kind === "llm" && stage.autoStatus ? [stage.responseKey] : []));
  const hidden = new Set(["outcome", "preferred_label", "last_stage", "graph.goal", "tool.output"]);
  const endings = effect.review ? /\.(status|_full_response|failure_reason)$/ : /\.(status|_full_response)$/;
  const isTold = (key: string) =>
    !hidden.has(key) && !endings.test(key) && !judged.includes(key.replace(/\.response$/, ""));
  const asked = new Set(referencesIn(written));
  const values = view.keys().flatMap((key) => {
    const value = isTold(key) && !asked.has(key) ? view.get(key) : undefined;
    const whole = key === "human.gate.feedback" ? { whole: true as const } : {};
    return value === undefined ? [] : [{ key, text: textOf(value, ({ text }) => text), ...whole }];
  });
  const ended = effect.review ? [] : endedStages(life().state);
  const goal = asked.has("goal") || asked.has("graph.goal") ? null : graph.goal;
  return stageContext(
    { goal, stages: ended.map(({ visit, ...stage }) => ({ ...stage, visits: visit })), values },
    detailOf(effect),
  );
}

async function findingsText(context: WorkflowContext, folder: string): Promise<string> {
  const open = reviewFindings(context.life());
  const findings = await Promise.all(
    open.map(async ({ stageId, iteration, status, failureReason, response }, index): Promise<StageFinding> => {
      const isNewest = !open.slice(index + 1).some((later) => later.stageId === stageId);
      const text = isNewest ? await wholeText(response) : response.text;
      return { stageId, iteration, status, reason: failureReason, text };
    }),
  );
  const restPath = join(folder, "findings.md");
  const { text, rest } = stageFindingsSection(findings, { budgetBytes: findingsBudgetBytes, restPath });
  if (rest !== null) await writeDurably(restPath, context.run.redact(rest));
  return text;
}
