import type { PullRequests } from "../../app.js";
import { plainLine } from "../../core/plain-text.js";
import { UserError } from "../../lib/errors.js";
import { renderColumns } from "../../views/columns.js";
import { notMerged, openPartsOf, phaseOf, toPullRequestJson } from "../../views/pull-requests.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";
import { deliverOwed } from "../run/deliver.js";
import { typed } from "../typed.js";

interface Json {
  readonly json?: boolean;
}

async function rooms({ app }: Context): Promise<PullRequests> {
  const { settings } = await app.settings({});
  return await app.pullRequests(settings);
}

const columns = [
  { title: "PR", least: 3 },
  { title: "ISSUE", least: 6 },
  { title: "PHASE", least: 8 },
  { title: "CYCLE", align: "right" },
  { title: "OPEN", align: "right" },
  { title: "URL", least: 12, drop: 1 },
] as const;

export async function listPullRequests(
  context: Context,
  { json, untrusted }: Json & { readonly untrusted?: boolean },
): Promise<number> {
  const room = await rooms(context);
  if (untrusted) return listUntrusted(context, await room.untrusted(), json ?? false);
  const views = await room.list();
  const { out } = context;
  if (json) {
    out.json(views.map(toPullRequestJson));
    return 0;
  }
  if (views.length === 0) out.line("No pull requests are followed.");
  else {
    const rows = views.map(({ pr, state }) => [
      `#${pr.number}`,
      pr.issueId,
      phaseOf(state),
      String(state?.cycle ?? 0),
      String(openPartsOf(state).length),
      pr.url,
    ]);
    for (const line of renderColumns(columns, rows, await roomOf(out, rows))) out.line(line);
    for (const { pr, state } of views) {
      const reason = notMerged(state);
      if (reason !== null) out.line(plainLine(`#${pr.number} is not merged: ${reason}`));
    }
  }
  return 0;
}

type Untrusted = Awaited<ReturnType<PullRequests["untrusted"]>>;

/** With its words: whoever lets something through has to know what. */
function listUntrusted({ out }: Context, found: Untrusted, json: boolean): number {
  if (json) out.json(found);
  else if (found.length === 0) out.line("Nothing of people who are not trusted waits.");
  for (const { number, id, author, text } of json ? [] : found) {
    out.line(plainLine(`#${number}  ${id}  @${author}  (ratchet pr admit ${id})`));
    for (const line of text.split("\n")) out.line(`  > ${plainLine(line)}`);
  }
  return 0;
}

export async function syncNow(context: Context, typed: string | undefined, { json }: Json): Promise<number> {
  const number = typed === undefined ? null : numberOf(typed);
  const room = await rooms(context);
  const code = await deliverOwed(context, room, number);
  const results = await room.sync(number, new AbortController().signal);
  const { out } = context;
  if (json) out.json(results);
  else if (results.length === 0) out.line("No pull requests are followed.");
  else
    for (const one of results)
      out.line(plainLine(`#${one.number} ${one.result}${one.reason === null ? "" : `: ${one.reason}`}`));
  return results.some(({ result }) => result === "failed") ? 3 : code;
}

export async function askForRework(
  context: Context,
  typed: string,
  { json, cycle, feedback }: Json & { readonly cycle?: string; readonly feedback?: string },
): Promise<number> {
  const wanted = {
    cycle: cycle === undefined ? null : numberOf(cycle, "--cycle 2 is the second cycle of rework"),
    feedback: feedback ?? null,
  };
  const { item, issueId, kept } = await (await rooms(context)).rework(numberOf(typed), wanted);
  const when = item === null ? `once you have decided: ratchet retry ${issueId}` : "that one has begun already";
  if (kept) context.out.note(`your words are kept and go along with the next cycle (${when})`);
  if (json) context.out.json({ item_id: item, escalated: item === null, feedback_kept: kept });
  else context.out.line(item ?? "escalated");
  return item === null ? 1 : 0;
}

export async function listEscalations({ app, out }: Context, { json }: Json): Promise<number> {
  const { id } = await app.project();
  const items = await (await app.store("reader")).workItems.escalated(id, 1000);
  const found = items.map(({ id: issue_id, title, payload }) => ({
    issue_id,
    title,
    pr_number: payload?.pr_number ?? null,
    pr_url: payload?.pr_url ?? null,
    escalation_reason: payload?.escalation_reason ?? null,
    escalated_at: payload?.escalated_at ?? null,
  }));
  if (json) out.json(found);
  else if (found.length === 0) out.line("Nothing waits for a person.");
  for (const one of json ? [] : found) {
    const pr = one.pr_number === null ? "" : ` (PR #${one.pr_number}, ${one.pr_url})`;
    out.line(`${one.issue_id}${pr}: ${one.escalation_reason ?? "it was escalated"}`);
    out.line(`  when you have decided: ratchet retry ${one.issue_id}`);
  }
  return 0;
}

export async function admitRemark(context: Context, comment: string, { json }: Json): Promise<number> {
  const number = await (await rooms(context)).admit(comment);
  if (json) context.out.json({ number, admitted: comment });
  else context.out.line(`${comment} goes along with the next cycle of #${number}; ratchet pr sync ${number} starts it`);
  return 0;
}

function numberOf(given: string, hint = "give the number of the pull request, such as 42"): number {
  const text = given.replace(/^#/, "");
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UserError(`${typed(given)} is no number`, { hint });
}
