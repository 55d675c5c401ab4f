import type { Finding } from "../../core/finding.js";
import type { TrackerEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import { headOf } from "../../core/ledger/text-bytes.js";
import type { Settled } from "../../durable/types.js";
import { Bug, messageOf } from "../../lib/errors.js";
import { readOptional } from "../../lib/files.js";
import type { LifeContext } from "../context.js";
import { handOver, type Told, tellOfItem } from "./item.js";

/** The holder of a claim is the run: whoever drives the run goes on with its claims. */
export async function performTracker(life: LifeContext, effect: TrackerEffect): Promise<Settled<IssueEvent>> {
  const { tracker, runId } = life.run;
  const { key } = effect;
  const done = (id?: string): Settled<IssueEvent> => ({
    event: { type: "tracker-done", key, ok: true, ...(id === undefined ? {} : { id }) },
  });
  try {
    const { epic } = life.trigger ?? {};
    if (epic !== undefined) return { event: { type: "tracker-done", key, ...(await tellOfEpic(life, effect, epic)) } };
    if (life.item) return { event: { type: "tracker-done", key, ...(await tellOfItem(life, effect, life.item)) } };
    const was = life.run.options.only === "land" ? await tracker.get(life.issueId) : null;
    // Its work is landed after the fact: the tracker has said its last word already.
    if (was?.status === "completed") return done();
    switch (effect.op) {
      case "claim": {
        const won = await tracker.claim(life.issueId, runId, { any: effect.any ?? false });
        if (won && was) return { event: { type: "tracker-done", key, ok: true, was: was.status } };
        if (won) return done();
        return { event: { type: "tracker-done", key, ok: false, reason: "somebody else has it", lost: true } };
      }
      case "complete":
        await tracker.complete(life.issueId, runId, { commit: effect.commit, note: effect.note });
        return done();
      case "hand-over":
        return { event: { type: "tracker-done", key, ...(await handOver(life, effect)) } };
      case "fail":
        await tracker.fail(life.issueId, runId, effect.reason);
        return done();
      case "release":
        await tracker.release(life.issueId, runId);
        return done();
      case "escalate":
        await tracker.escalate(life.issueId, runId, effect.reason);
        return done();
      case "follow-up":
        return done(await tracker.followUp(life.names.item, await followUpText(life, effect.findings)));
    }
  } catch (error) {
    return { event: { type: "tracker-done", key, ok: false, reason: messageOf(error), lost: false } };
  }
}

async function tellOfEpic(life: LifeContext, effect: TrackerEffect, epic: string): Promise<Told> {
  const { tracker, runId } = life.run;
  if (!tracker.epics) throw new Bug(`a tracker without epics has the epic ${epic}`);
  const answer = (ok: boolean): Told => (ok ? { ok } : { ok, reason: `${epic} is not due for this run`, lost: true });
  switch (effect.op) {
    case "claim":
      return answer(await tracker.epics.claim(epic, runId));
    case "complete":
      return answer(await tracker.epics.complete(epic, runId, effect.note));
    case "follow-up": {
      const text = await followUpText(life, effect.findings);
      const title = `What epic ${epic} still lacks: ${life.title}`;
      return { ok: true, id: await tracker.followUp(epic, { ...text, title, inEpic: true }) };
    }
    default:
      await tracker.epics.release(epic, runId);
      return { ok: true };
  }
}

/** What of one finding's text a follow-up repeats. */
const longestText = 16_000;

async function followUpText(life: LifeContext, ids: readonly string[]): Promise<{ title: string; body: string }> {
  const findings = life.ledger().findings.filter((finding) => ids.includes(finding.id));
  const lines = await Promise.all(findings.map(async (finding) => line(finding, await wholeText(finding))));
  return { title: `Follow-up of ${life.names.item}: ${life.title}`, body: lines.join("\n\n") };
}

async function wholeText({ body, issue_id }: Finding): Promise<string> {
  const whole = body.ref === undefined ? body.text : ((await readOptional(body.ref.path)) ?? body.text);
  const head = headOf(whole, longestText);
  return head === whole ? whole : `${head}\n(cut here; all of it: ratchet findings ${issue_id} --all)`;
}

/** The hidden id lets a repeated follow-up see what it has already said. */
function line(finding: Finding, text: string): string {
  const place = finding.file === "" ? "" : ` ${finding.file}:${finding.line_start}-${finding.line_end}`;
  const rank = finding.priority === null ? "" : `P${finding.priority} `;
  const who = finding.reviewers.join(", ");
  return `- ${rank}${finding.title}${place} (${who})\n  ${text.replaceAll("\n", "\n  ")}\n  <!-- ratchet:${finding.id} -->`;
}
