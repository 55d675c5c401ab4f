import type { Finding } from "../../core/finding.js";
import { followUpParagraph } from "../../core/follow-up.js";
import type { TrackerEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import { knownPlace, sayAll } from "../../core/ledger/render-words.js";
import { headOf } from "../../core/ledger/text-bytes.js";
import { wordsOf } from "../../core/ledger/words.js";
import type { Settled } from "../../durable/types.js";
import { Bug, ExternalError, messageOf } from "../../lib/errors.js";
import { readAllKept } from "../../lib/long-text.js";
import { type LifeContext, pullRequestMachineId } from "../context.js";
import { type Ending, isTrackerAway, type Telling, tellEnding } from "../tracker-outbox.js";
import { whatIsUnmerged } from "./epics.js";
import { tellGivenUp } from "./given-up.js";
import { handOver, type Told, tellOfItem } from "./item.js";

/** The holder of a claim is the run: whoever drives the run goes on with its claims. */
export async function performTracker(
  life: LifeContext,
  effect: TrackerEffect,
  signal: AbortSignal,
): Promise<Settled<IssueEvent>> {
  const { tracker, runId, history } = life.run;
  const { key } = effect;
  const lost = { ok: false, reason: "somebody else has it", lost: true } as const;
  const done = (): Settled<IssueEvent> => ({ event: { type: "tracker-done", key, ok: true } });
  try {
    const { epic } = life.trigger ?? {};
    if (epic !== undefined) return { event: { type: "tracker-done", key, ...(await tellOfEpic(life, effect, epic)) } };
    // Agents of two runs would be in one worktree.
    const isTaken = effect.op === "claim" && (await history.livedElsewhere(life.issueId));
    if (isTaken) return { event: { type: "tracker-done", key, ...lost } };
    if (life.item) return { event: { type: "tracker-done", key, ...(await tellOfItem(life, effect, signal)) } };
    const was = life.run.options.only === "land" ? await tracker.get(life.issueId) : null;
    // Its work is landed after the fact: the tracker has said its last word already, but for what is still to be done.
    if (was?.status === "completed" && effect.op !== "follow-up") return done();
    switch (effect.op) {
      case "claim": {
        const won = await tracker.claim(life.issueId, runId, { any: effect.any ?? false });
        if (won && was) return { event: { type: "tracker-done", key, ok: true, was: was.status } };
        if (won) return done();
        return { event: { type: "tracker-done", key, ...lost } };
      }
      case "hand-over":
        return { event: { type: "tracker-done", key, ...(await handOver(life, effect)) } };
      case "follow-up": {
        const told = await tracker.followUp(life.names.item, await followUpText(life, effect.findings));
        await life.run.outbox.noteFollowUp(told.id);
        return { event: { type: "tracker-done", key, ok: true, ...told } };
      }
      case "fail":
      case "escalate":
      case "give-back":
        return { event: await tellGivenUp(life, effect) };
      default:
        await tellEnding(tracker, { issueId: life.issueId, holder: runId, ...effect });
        return done();
    }
  } catch (error) {
    // Nobody hears it, and the effect itself is what stays owed.
    if (signal.aborted) throw error;
    const isOwed = isTrackerAway(error) || (effect.op === "complete" && error instanceof ExternalError);
    const owed = isOwed ? (claimOwed(life, effect, error) ?? (await owedBy(life, effect))) : null;
    if (owed !== null) await life.run.outbox.add(owed);
    return { event: { type: "tracker-done", key, ok: false, reason: messageOf(error), lost: false } };
  }
}

/** The claim was made, and it would bind the issue, or the epic, to a run that knows nothing of it. */
function claimOwed(life: LifeContext, { op }: TrackerEffect, error: unknown): Telling | null {
  if (op !== "claim" || !(error instanceof ExternalError) || !error.isDone) return null;
  const issueId = life.trigger?.epic ?? life.issueId;
  return { issueId, holder: life.run.runId, op: "release", claimed: true };
}

/** Epics are looked for by every run, and items of pull requests are on our own board: nothing is owed for those. */
async function owedBy(life: LifeContext, effect: TrackerEffect): Promise<Telling | null> {
  const { run, names, item, trigger } = life;
  if (item || trigger?.epic !== undefined) return null;
  return { issueId: names.item, holder: run.runId, ...(await endingOf(life, effect)) };
}

async function endingOf(life: LifeContext, effect: TrackerEffect): Promise<Ending> {
  switch (effect.op) {
    case "claim":
      // The call may have failed after the claim was made.
      return { op: "release", unsure: true };
    case "complete":
      return { op: "complete", commit: effect.commit, note: effect.note };
    case "fail":
      return { op: "fail", reason: effect.reason, ...(effect.resumed ? { resumed: true } : {}) };
    case "escalate":
      return { op: "escalate", reason: effect.reason };
    case "release":
      return { op: "release" };
    case "give-back":
      return { op: "give-back", was: effect.was, reason: effect.reason };
    case "follow-up":
      return { op: "follow-up", text: await followUpText(life, effect.findings) };
    case "hand-over":
      return { op: "pass", to: pullRequestMachineId(life.run.projectId, effect.number) };
  }
}

async function tellOfEpic(life: LifeContext, effect: TrackerEffect, epic: string): Promise<Told> {
  const { tracker, runId } = life.run;
  if (!tracker.epics) throw new Bug(`a tracker without epics has the epic ${epic}`);
  const answer = (ok: boolean): Told => (ok ? { ok } : { ok, reason: `${epic} is not due for this run`, lost: true });
  switch (effect.op) {
    case "claim":
      return answer((await isInTarget(life, epic)) && (await tracker.epics.claim(epic, runId)));
    case "complete":
      return answer((await isInTarget(life, epic)) && (await tracker.epics.complete(epic, runId, effect.note)));
    case "follow-up": {
      if (await isDone(life, epic)) return answer(false);
      const text = await followUpText(life, effect.findings);
      const title = `What epic ${epic} still lacks: ${life.title}`;
      const { id } = await tracker.followUp(epic, { ...text, title, inEpic: true });
      return { ok: true, id };
    }
    default:
      await tracker.epics.release(epic, runId);
      return answer(!(await isDone(life, epic)));
  }
}

/** Something that has come to it since may be done on a branch of its own. What is completed stays so. */
async function isInTarget(life: LifeContext, epic: string): Promise<boolean> {
  return (await isDone(life, epic)) || (await whatIsUnmerged(life.run, epic)) === null;
}

/** What somebody has completed meanwhile is done, whatever was found. */
async function isDone({ run: { tracker } }: LifeContext, epic: string): Promise<boolean> {
  return (await tracker.get(epic))?.status === "completed";
}

/** What of one reporter's text a follow-up repeats. */
const longestText = 16_000;

async function followUpText(life: LifeContext, ids: readonly string[]): Promise<{ title: string; body: string }> {
  const findings = life.ledger().findings.filter((finding) => ids.includes(finding.id));
  const wholeOf = await readAllKept(findings.flatMap(wordsOf).map(({ body }) => body));
  const lines = findings.map((finding) =>
    line(
      finding,
      sayAll(finding, (body) => cut(wholeOf(body), finding)),
    ),
  );
  // A trigger's title names its run.
  const of = life.trigger ? life.title : `${life.names.item}: ${life.title}`;
  return { title: `Follow-up of ${of}`, body: lines.join("\n\n") };
}

function cut(whole: string, { issue_id }: Finding): string {
  const head = headOf(whole, longestText);
  return head === whole ? whole : `${head}\n(cut here; all of it: ratchet findings ${issue_id} --all)`;
}

/** The hidden id lets a repeated follow-up see what it has already said. */
function line(finding: Finding, text: string): string {
  const place = knownPlace(finding);
  const rank = finding.priority === null ? "" : `P${finding.priority} `;
  const who = finding.reviewers.join(", ");
  return followUpParagraph(finding.id, `${rank}${finding.title}${place === "" ? "" : ` ${place}`} (${who})\n${text}`);
}
