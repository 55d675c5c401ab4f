import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { cyclesOf } from "../core/board/payload.js";
import type { Finding, Text } from "../core/finding.js";
import type { TurnEffect } from "../core/issue/effects.js";
import { ownFindings, refusedAnswer } from "../core/issue/own-findings.js";
import { openFindings, settledFindings } from "../core/ledger/ledger.js";
import { renderFindings } from "../core/ledger/render.js";
import { otherWordsOf, wordsOf } from "../core/ledger/words.js";
import type { Agent } from "../core/ports/agent.js";
import type { SessionEndResult } from "../core/report.js";
import type { FindingThreshold } from "../core/settings.js";
import { compareWithOrigin } from "../git/landing/base-conflict.js";
import { readLacking } from "../git/landing/lacking.js";
import { diff } from "../git/worktree/diff.js";
import { ExternalError } from "../lib/errors.js";
import { writeDurably } from "../lib/files.js";
import {
  continuePrompt,
  diffBudgetBytes,
  findingsBudgetBytes,
  fixerPrompt,
  gateFollowupPrompt,
  goalPrompt,
  implementerPrompt,
  reviewFollowupPrompt,
  reviewPrompt,
  verificationPrompt,
} from "../prompts/prompts.js";
import { renderComments, reworkPrompt } from "../prompts/rework.js";
import type { IssueText, NamedCommand } from "../prompts/sections.js";
import { wasByFallback } from "./attempt-notes.js";
import { followsTarget, type LifeContext, worktreePath } from "./context.js";
import { issuesOfEpic } from "./epic-changes.js";
import { filesOf } from "./perform/turn-files.js";

/** What a review of the run itself is about, in place of an issue's text. */
const allOfIt = "Not one issue, but everything that has landed since, by whichever issue: judge it as a whole.";
/** What an agent's answer to a round may take up in the next reviewer's prompt. */
const replyCharacters = 16_000;

/** The prompt of a turn, from the ledger and the tracker as they are when it starts. */
export async function renderPrompt(life: LifeContext, effect: TurnEffect, folder: string): Promise<string> {
  const { templates, projectText } = life.run;
  const { attempt, maxAttempts } = effect;
  const common = { projectText, attempt, maxAttempts, issueId: life.issueId };
  const commands = commandsOf(life);
  switch (effect.prompt) {
    case "implementer": {
      const findings = await findingsText(life, folder, effectFindings(life, effect));
      const { branch } = life.names;
      const issue = await issueText(life);
      const moved = await movedSince(life);
      return implementerPrompt(
        { ...common, issue, branch, commands, guides: guidesIn(life), findings, moved },
        templates,
      );
    }
    case "gate_followup": {
      const findings = (await findingsText(life, folder, effectFindings(life, effect))) ?? "";
      const merge = demandedMerge(life, effect);
      const moved = merge ? null : await movedSince(life);
      return gateFollowupPrompt({ ...common, findings, commands, merge, moved }, templates);
    }
    case "review_followup": {
      const findings = (await findingsText(life, folder, effectFindings(life, effect))) ?? "";
      // A resume may find nothing of the work, and no session either: whoever answers must know what it was for.
      const issue = effect.only !== null && life.state().startsAnew === true ? await issueText(life) : null;
      return reviewFollowupPrompt({ ...common, findings, commands, issue, moved: await movedSince(life) }, templates);
    }
    case "fixer": {
      const findings = await findingsText(life, folder, effectFindings(life, effect));
      const [issue, guides] = [life.trigger ? null : await issueText(life), guidesIn(life)];
      const data = { ...common, stage: effect.stage, issue, failure: null, findings, guides };
      return fixerPrompt({ ...data, commands: triggerCommands(life, effect.stage) ?? commands }, templates);
    }
    case "rework":
      return reworkPrompt(await reworkData(life, folder), templates);
    case "review":
      return reviewPrompt(await reviewData(life, effect, folder), templates);
    case "epic_verification":
      return verificationPrompt(await verificationData(life, effect, folder), templates);
    case "continue": {
      const { idle_timeout_seconds: idleSeconds } = life.run.settings;
      return continuePrompt({ issueId: life.names.item, interrupted: effect.interrupted, idleSeconds }, templates);
    }
  }
}

/** In place of an implementer's prompt, for a workflow that does its work: every time it starts it is told all. */
export async function renderGoal(life: LifeContext, effect: TurnEffect, folder: string): Promise<string> {
  if (effect.prompt === "rework") return await renderPrompt(life, effect, folder);
  const findings = await findingsText(life, folder, effectFindings(life, effect));
  const [issue, guides] = [await issueText(life), guidesIn(life)];
  const merge = demandedMerge(life, effect);
  const data = { issue, guides, findings, merge, branch: life.names.branch, commands: commandsOf(life) };
  return goalPrompt(data, life.run.templates);
}

function demandedMerge({ run, state }: LifeContext, { base }: TurnEffect) {
  const { demanded, demandedOf } = state().landing;
  return demanded ? { target: demandedOf ?? run.target, commit: base } : null;
}

/** What made an earlier life fail may have been mended on the target: into its work that comes by a merge alone. */
async function movedSince(life: LifeContext) {
  const { target, repoPath } = life.run;
  if (life.state().life === 1 || !followsTarget(life)) return null;
  const lacking = await readLacking(worktreePath(life), { repoPath, target });
  return lacking && { target, commit: lacking.tip, commits: lacking.commits };
}

async function reworkData(life: LifeContext, folder: string) {
  const { run, item } = life;
  const payload = (await run.board.get(run.projectId, life.issueId))?.payload;
  if (!item || (payload?.source !== "rework" && payload?.source !== "merge_fix"))
    throw new ExternalError("board", `${life.issueId} is no longer a rework on the board`);
  const isRework = payload.source === "rework";
  const comments = isRework ? payload.inline_comments.map((one) => ({ ...one, body: run.redact(one.body) })) : [];
  const { max_inline_comments: maxComments } = run.settings.pull_requests;
  const restPath = join(folder, "comments.md");
  if (comments.length > maxComments) await writeDurably(restPath, renderComments(comments, comments.length));
  return {
    projectText: run.projectText,
    prNumber: item.prNumber,
    prUrl: payload.pr_url,
    branch: life.names.branch,
    cycle: payload.counted_cycle ?? item.cycle,
    maxCycles: cyclesOf(payload.max_rework_cycles).max ?? item.cycle,
    summary: run.redact(isRework ? payload.review_feedback : ""),
    comments,
    maxComments,
    restPath,
    conflictsWith: await conflictOf(life, payload),
    commands: commandsOf(life),
    guides: guidesIn(life),
  };
}

/** Looked at now: the base may have moved since the item was made. One that is about nothing else says so in any case. */
async function conflictOf(
  { run, state }: LifeContext,
  { source, base_branch: branch }: { readonly source: "rework" | "merge_fix"; readonly base_branch: string },
) {
  const { work, baseSha } = state();
  const seen = await compareWithOrigin(run.mirror, { base: branch, head: work?.head ?? baseSha });
  return source === "merge_fix" || seen?.conflicts ? { branch, commit: seen?.tip ?? null } : null;
}

async function reviewData(life: LifeContext, effect: TurnEffect, folder: string) {
  const own = ownFindings(life.ledger(), life.run.settings, effect);
  const earlierFindings = await findingsText(life, folder, own);
  const change = await diff(life.run.mirror, { base: effect.base, head: effect.head, maxBytes: 4 * diffBudgetBytes });
  return {
    projectText: life.run.projectText,
    attempt: effect.attempt,
    maxAttempts: effect.maxAttempts,
    issue: await issueText(life),
    reviewer: effect.slot ?? "reviewer",
    baseSha: effect.base,
    headSha: effect.head,
    diff: change,
    diffBudgetBytes,
    earlierFindings,
    // A resumed life's first round judges an answer too: to the findings it was resumed with.
    settled: settledText(life, effect.threshold ?? "none"),
    reply: effect.attempt > 1 || earlierFindings !== null ? await lastReply(life, folder) : null,
    sessionEnd: life.trigger || effect.stage === "session_end" ? null : await sessionEndOf(life),
    refused: refusedAnswer(life.ledger(), effect),
  };
}

async function verificationData(life: LifeContext, effect: TurnEffect, folder: string) {
  const { run } = life;
  const own = ownFindings(life.ledger(), run.settings, effect);
  const change = await diff(run.mirror, { base: effect.base, head: effect.head, maxBytes: 4 * diffBudgetBytes });
  const epicId = life.trigger?.epic ?? "";
  const epic = await run.tracker.get(epicId);
  if (!epic) throw new ExternalError("tracker", `the epic ${epicId} is no longer there`);
  return {
    projectText: run.projectText,
    epic: { id: epic.id, title: epic.title, body: epic.body },
    reviewer: effect.slot ?? "reviewer",
    children: await issuesOfEpic(run, epicId),
    baseSha: effect.base,
    headSha: effect.head,
    diff: change,
    diffBudgetBytes,
    earlierFindings: await findingsText(life, folder, own),
    refused: refusedAnswer(life.ledger(), effect),
  };
}

const settledMax = 50;
function settledText(life: LifeContext, threshold: FindingThreshold): string | null {
  const settled = settledFindings(life.ledger(), threshold).slice(-settledMax);
  if (settled.length === 0) return null;
  const lines = settled.map((finding) => {
    const { id, file, line_start, title, reason } = finding;
    const place = file === "" ? "" : ` (${file}:${line_start})`;
    const titles = [title, ...otherWordsOf(finding).map((one) => one.title)];
    return `- ${id}${place} ${[...new Set(titles)].join(" / ")}: ${reason ?? "settled"}`;
  });
  return life.run.redact(lines.join("\n"));
}

/** As it stands in the record; its own reviewers look while it is still going on. */
async function sessionEndOf(life: LifeContext): Promise<SessionEndResult | null> {
  return (await life.run.history.record(life.issueId))?.session_end_result ?? null;
}

/** Everything open, and what was superseded as history; or exactly those that a resume names. */
function effectFindings(life: LifeContext, effect: TurnEffect): readonly Finding[] {
  const ledger = life.ledger();
  if (effect.only !== null) return openFindings(ledger, { ids: effect.only });
  const defects = openFindings(ledger, { defects: true });
  return [...defects, ...ledger.findings.filter(({ status }) => status === "superseded")];
}

/** null: there is none. What does not fit goes to a file beside the prompt. */
async function findingsText(life: LifeContext, folder: string, findings: readonly Finding[]): Promise<string | null> {
  const open = findings.filter(({ status }) => status === "open");
  if (open.length === 0) return null;
  const bodies = new Map<Text, string>();
  for (const { body } of open.flatMap(wordsOf)) if (body.ref) bodies.set(body, await readFile(body.ref.path, "utf8"));
  const restPath = join(folder, "findings.md");
  const { text, rest } = renderFindings(findings, {
    budgetBytes: findingsBudgetBytes,
    restPath,
    order: "by-file",
    wholeOf: (body) => bodies.get(body) ?? body.text,
  });
  if (rest !== null) await writeDurably(restPath, rest);
  return life.run.redact(text);
}

/** Somebody has deleted it. An item of a pull request is on our own board, whatever became of its issue. */
export class IssueGone extends ExternalError {
  readonly isOwn: boolean;
  constructor({ issueId, item }: Pick<LifeContext, "issueId" | "item">) {
    super("tracker", `the issue ${issueId} is no longer there`);
    this.isOwn = item === undefined;
  }
}

async function issueText(life: LifeContext): Promise<IssueText> {
  if (life.trigger) return { id: life.names.item, title: life.title, body: allOfIt };
  const issue = await life.run.tracker.get(life.item?.issueId ?? life.issueId);
  if (!issue) throw new IssueGone(life);
  return { id: issue.id, title: issue.title, body: issue.body };
}

/** What a trigger's fixer will be judged by; null: the stage is no trigger. */
function triggerCommands(life: LifeContext, stage: string): NamedCommand[] | null {
  const { validation_triggers: triggers } = life.run.settings;
  const name = life.trigger?.name ?? (stage === "session_end" ? stage : null);
  const trigger = name === null || name === "epic_verification" ? null : triggers[name];
  return trigger?.commands.map(({ ref, command }) => ({ name: ref, command })) ?? null;
}

/** What judges the work, then what else the project has; where nothing is required, all of it. */
function commandsOf(life: LifeContext): NamedCommand[] {
  const { commands, evidence_check } = life.run.settings;
  const { required } = evidence_check;
  const others = Object.keys(commands).filter((name) => !required.includes(name));
  const told = (name: string) => (required.length > 0 && !required.includes(name) ? `${name} (not required)` : name);
  return [...required, ...others]
    .filter((name) => name !== "setup")
    .flatMap((name) => (commands[name] ? [{ name: told(name), command: commands[name].command }] : []));
}

function guidesIn(life: LifeContext): string[] {
  return ["AGENTS.md", "CLAUDE.md"].filter((name) => existsSync(join(worktreePath(life), name)));
}

/** Whoever did the turn in that folder. */
async function agentIn({ run }: LifeContext, folder: string): Promise<Agent> {
  return ((await wasByFallback(folder)) ? run.fallback : null) ?? run.agent;
}

/** The end of what the implementer last said, before the turn in `folder`. */
async function lastReply(life: LifeContext, folder: string): Promise<string | null> {
  const attempts = (await readdir(dirname(folder))).filter((name) =>
    /^\d+-(implementer|\w+_followup|continue)$/.test(name),
  );
  const last = attempts.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1);
  if (last === undefined) return null;
  const before = join(dirname(folder), last);
  let text = "";
  for await (const line of (await agentIn(life, before)).message(filesOf(before))) {
    text = `${text}${line}\n`.slice(-replyCharacters);
  }
  return text.trim() === "" ? null : life.run.redact(text);
}
