import type { Finding, Text } from "../../core/finding.js";
import { type FindingJson, toFindingJson } from "../../core/finding-json.js";
import { wordsOf } from "../../core/ledger/words.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { readAllKept } from "../../lib/long-text.js";
import { noFindings, renderFindingDetails, renderFindingList } from "../../views/findings.js";
import { foreignName, foreignOf, listHint } from "../../views/foreign-tracker.js";
import { lookUpTracker } from "../asked-tracker.js";
import type { Context } from "../context.js";
import { findLiving } from "../living.js";
import { roomOf } from "../room.js";
import { typed } from "../typed.js";

export interface FindingsOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

export async function listFindings(
  context: Context,
  issue: string | undefined,
  { all = false, json }: FindingsOptions,
): Promise<number> {
  const { app, out } = context;
  const project = await app.project();
  const store = await app.store();
  const about = issue === undefined ? {} : { issueId: issue };
  const findings = toldOnce(await store.findings({ projectId: project.id, all, ...about })).sort(worstFirst);
  if (issue !== undefined && findings.length === 0) await mustKnow(context, project.id, issue);
  if (json) {
    out.json(await toJson(findings));
    return 0;
  }
  if (findings.length === 0) {
    out.line(noFindings(all));
    return 0;
  }
  const lines =
    issue === undefined
      ? renderFindingList(findings, await roomOf(out, findings))
      : renderFindingDetails(findings, await readTexts(findings));
  for (const line of lines) out.line(line);
  return 0;
}

/** What a called workflow found is on its own ledger and on its caller's, which is the one that is shown. */
function toldOnce(findings: readonly Finding[]): Finding[] {
  const nameOf = ({ issue_id, stage, title }: Finding) => `${issue_id}/${stage}\n${title}`;
  const callers = new Map<string, number>();
  for (const finding of findings) {
    const known = callers.get(nameOf(finding)) ?? Number.POSITIVE_INFINITY;
    callers.set(nameOf(finding), Math.min(known, finding.issue_id.length));
  }
  return findings.filter((finding) => finding.issue_id.length === callers.get(nameOf(finding)));
}

/** One without a priority comes last; otherwise as raised, a workflow's in the order of its stages. */
function worstFirst(one: Finding, other: Finding): number {
  return (one.priority ?? 9) - (other.priority ?? 9) || byExecution(one, other);
}

export function byExecution(one: Finding, other: Finding): number {
  if (one.order === undefined || other.order === undefined || one.run_id !== other.run_id) return 0;
  const [first, second] = [one.order, other.order];
  const at = first.findIndex((place, index) => place !== second[index]);
  return at < 0 ? first.length - second.length : (first[at] ?? 0) - (second[at] ?? -1);
}

async function mustKnow(context: Context, projectId: string, issue: string): Promise<void> {
  const store = await context.app.store();
  if (await store.workItems.get(projectId, issue)) return;
  if ((await store.runsWith(projectId, issue)).length > 0) return;
  if ((await store.runs(projectId, 1000)).some(({ runId }) => runId === issue)) return;
  const { tracker, untracked } = await lookUpTracker(context);
  if (untracked) throw untracked;
  if (await tracker?.get(issue)) return;
  const foreign = tracker === null ? null : foreignOf(tracker);
  const place = foreign === null ? projectId : foreignName(foreign);
  throw new Refusal(`no issue ${typed(issue)} in ${place}`, { code: "not-found", hint: listHint(foreign) });
}

export async function toJson(findings: readonly Finding[]): Promise<FindingJson[]> {
  const wholeOf = await readTexts(findings);
  return findings.map((finding) => toFindingJson(finding, wholeOf));
}

async function readTexts(findings: readonly Finding[]): Promise<(body: Text) => string> {
  return await readAllKept(findings.flatMap(wordsOf).map(({ body }) => body));
}

/** A driven issue's ledger is its driver's: it is told; otherwise the row is changed here. */
export async function waiveFinding(
  { app, out }: Context,
  id: string,
  { reason, issue, json }: { readonly reason: string; readonly issue?: string; readonly json?: boolean },
): Promise<number> {
  if (reason.trim() === "") throw new UserError("--reason is empty", { hint: "say why the finding may stay" });
  const project = await app.project();
  const store = await app.store();
  const finding = await store.finding({
    projectId: project.id,
    id,
    ...(issue === undefined ? {} : { issueId: issue }),
  });
  if (finding.status !== "open") throw new Refusal(`finding ${finding.id} is ${finding.status}, not open`);
  const living = await findLiving(store, project.id, finding.issue_id);
  const name = { projectId: project.id, id: finding.id, issueId: finding.issue_id };
  if (living === null) await store.waiveDirect({ ...name, reason });
  else await store.signal(living.machine, { name: "waive", finding: finding.id, reason });
  const { id: waived, issue_id } = finding;
  const toldRun = living?.runId ?? null;
  if (json) out.json({ id: waived, issue_id, status: "waived", reason, told_run: toldRun });
  else out.line(`${waived} of ${issue_id} is waived${toldRun === null ? "" : `, run ${toldRun} has been told`}`);
  return 0;
}
