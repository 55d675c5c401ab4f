import { rmSync } from "node:fs";
import { join } from "node:path";
import { cyclesOf } from "../../core/board/payload.js";
import { inlineTextBytes, type Text } from "../../core/finding.js";
import { isBlocking, openFindings } from "../../core/ledger/ledger.js";
import type { Check, Feedback, PullRequest } from "../../core/ports/forge.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import type { CycleLimit, Looked, OwnFinding, PrEvent, SeenCheck, SeenItem } from "../../core/pull-request/events.js";
import { checkId } from "../../core/pull-request/intake.js";
import { isTrusted } from "../../core/pull-request/trust.js";
import type { Settled } from "../../durable/types.js";
import { messageOf } from "../../lib/errors.js";
import { makeFolder, readOptional, writeDurably } from "../../lib/files.js";
import { tailOf } from "../../lib/github-client/tail.js";
import { safeName } from "../../lib/home.js";
import { keepText } from "../../lib/long-text.js";
import type { PrContext } from "./context.js";
import {
  checkPart,
  conflictPart,
  lookPath,
  looksIn,
  ownPart,
  type Part,
  partsOf,
  type Remark,
  remarksOf,
} from "./parts.js";

const logBytes = 16_000;
/** Of one log: what takes longer is left out, and said to be. */
const logTimeoutMs = 10_000;
const keptLooks = 5;
const defaultCycles = 2;

/** The forge and the board together. What could not be fetched is named; without the pull request itself there is no look. */
export async function performLook(
  context: PrContext,
  effect: { readonly key: string },
  signal: AbortSignal,
): Promise<Settled<PrEvent>> {
  try {
    return { event: await look(context, effect.key, signal) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { event: { type: "look-failed", key: effect.key, reason: messageOf(error) } };
  }
}

async function look(context: PrContext, key: string, signal: AbortSignal): Promise<Looked> {
  const { forge, pr, home, projectId, settings } = context;
  const folder = home.pullRequest(projectId, pr.number);
  makeFolder(folder);
  const polled = await forge.poll(pr.number, null, signal);
  if (polled.type === "unchanged") throw new Error("the forge says unchanged of what was not asked for before");
  const { pullRequest, cursor } = polled;
  const timeoutMs = settings.pull_requests.comment_timeout_seconds * 1000;
  const feedback = pullRequest.state === "open" ? await forge.feedback(pr.number, { timeoutMs, signal }) : nothing;
  const [checks, items] = [await seenChecks(context, feedback, { folder, signal }), await seenItems(context)];
  const path = lookPath(folder, key);
  const me = await forge.whoAmI(signal);
  const remarks = remarksOf(feedback, { login: me, posted: context.life().state.posted ?? [] });
  const parts = [
    ...partsOf(feedback, quotable(context, remarks)),
    ...checks.parts,
    ...items.parts,
    conflictPart(pullRequest.head.sha, pr.baseBranch),
  ];
  await writeDurably(path, JSON.stringify(parts));
  forgetOld(folder, neededLooks(context));
  return {
    type: "looked",
    key,
    pullRequest: seenPullRequest(pullRequest, me),
    remarks: await seenRemarks(context, remarks, folder),
    checks: checks.seen,
    failed: feedback.failed,
    cursor,
    path,
    items: items.seen,
    escalated: items.escalated,
    limit: items.limit,
  };
}

const nothing: Feedback = { reviews: [], inline: [], comments: [], checks: [], failed: [] };

function seenPullRequest(pullRequest: PullRequest, me: string): Looked["pullRequest"] {
  const { state, head, base, mergeable, mergeCommit, author, draft } = pullRequest;
  const { login, association } = author;
  const known = { state, mergeable, mergeCommit, draft, association, author: login, own: login === me };
  return { ...known, head: head.sha, base: base.sha };
}

interface Place {
  readonly folder: string;
  readonly signal: AbortSignal;
}

/** What an agent may see beside another remark: ours, trusted people's, and what a person let through in these very words. */
function quotable({ settings, life }: PrContext, remarks: readonly Remark[]): ReadonlySet<string> {
  const { deliveries } = life().state;
  const isAdmitted = ({ id, digest }: Remark) => deliveries[id]?.admitted === true && deliveries[id].digest === digest;
  const isSafe = (one: Remark) => one.own || isTrusted(settings.pull_requests.trusted, one) || isAdmitted(one);
  return new Set(remarks.filter(isSafe).map(({ id }) => id));
}

/** Words go into the journal once: what the machine knows already comes without. */
async function seenRemarks(context: PrContext, remarks: readonly Remark[], folder: string): Promise<Looked["remarks"]> {
  const { deliveries } = context.life().state;
  return await Promise.all(
    remarks.map(async ({ words, ...remark }) => {
      if (deliveries[remark.id] || words === "") return remark;
      return { ...remark, body: await kept(context, words, join(folder, `${safeName(remark.id)}.md`)) };
    }),
  );
}

function kept({ redact }: PrContext, words: string, path: string): Promise<Text> {
  return keepText(redact(words), path, inlineTextBytes);
}

async function seenChecks(context: PrContext, { checks }: Feedback, place: Place) {
  const all = await Promise.all(checks.map((check) => seenCheck(context, check, place)));
  return { seen: all.map(({ seen }) => seen), parts: all.flatMap(({ part }) => part ?? []) };
}

async function seenCheck(context: PrContext, check: Check, { folder, signal }: Place) {
  const { id, name, commit, status, required } = check;
  const known = context.life().state.deliveries[checkId(check)]?.status ?? "void";
  const isNew = status === "failure" && known === "void";
  const seen: SeenCheck = { id, name, commit, status, required };
  // What an agent has been told of needs no second download of its log.
  if (!isNew && !(status === "failure" && known === "waiting")) return { seen };
  const words = await wordsOf(context, check, signal);
  const part = checkPart(check, context.redact(words));
  if (!isNew) return { seen, part };
  return { seen: { ...seen, body: await kept(context, words, join(folder, `check-${safeName(id)}.log`)) }, part };
}

/** The end of the job's log; a log that cannot be had does not keep the failure from being told. */
async function wordsOf({ forge }: PrContext, check: Check, signal: AbortSignal): Promise<string> {
  try {
    const log = await forge.checkLog(check, logBytes, AbortSignal.any([signal, AbortSignal.timeout(logTimeoutMs)]));
    // Where there is no log, the summary comes in its place.
    const told = log === tailOf(check.summary, logBytes) ? [log] : [check.summary, log];
    return told.filter((text) => text.trim() !== "").join("\n\n");
  } catch (error) {
    if (signal.aborted) throw error;
    return `${check.summary}\n(its log could not be fetched: ${messageOf(error)})`.trim();
  }
}

async function seenItems(context: PrContext) {
  const { board, projectId, pr, settings } = context;
  const all = await board.ofPullRequest(projectId, pr.number);
  const issue = await board.get(projectId, pr.issueId);
  const parts: Part[] = [];
  const seen: SeenItem[] = [];
  for (const item of all) {
    const { payload } = item;
    if (payload === null || payload.source === "implement") continue;
    const done = item.status === "completed" ? await board.completion(projectId, item.id) : null;
    const verdict = payload.source === "code_review" ? await verdictOf(context, item, done?.note ?? null) : null;
    verdict?.findings.forEach((finding, index) => {
      parts.push(ownPart(item.id, index, finding));
    });
    seen.push({
      id: item.id,
      source: payload.source,
      cycle: "rework_cycle" in payload ? (payload.rework_cycle ?? 0) : 0,
      status: item.status,
      commit: done?.commit ?? null,
      reason: item.failureReason,
      ...(verdict ? { verdict: { ...verdict, findings: verdict.findings.map(({ words: _, ...one }) => one) } } : {}),
    });
  }
  const escalated = issue?.payload?.human_review_required === true;
  const own = issue?.payload?.max_rework_cycles;
  return { parts, seen, escalated, limit: limitOf(settings.pull_requests.max_rework_cycles, own) };
}

/** The project's setting, else the item's, else two. What stands on the board may be anybody's. */
function limitOf(project: number | null, item: unknown): CycleLimit {
  const own = cyclesOf(item);
  const ignored = own.bad ? `max_rework_cycles: ${JSON.stringify(item)} cannot be used and is ignored` : null;
  if (project !== null) return { max: project, from: "project", ignored };
  if (own.max !== null) return { max: own.max, from: "item", ignored };
  return { max: defaultCycles, from: "default", ignored };
}

type Verdict = {
  readonly verdict: "pass" | "fail";
  readonly findings: readonly (OwnFinding & { readonly words: string })[];
};

/** Only what our reviewer's life has said itself; an item that somebody else completed has no verdict. */
async function verdictOf(
  { ledger, settings }: PrContext,
  item: WorkItem,
  note: string | null,
): Promise<Verdict | null> {
  if (note !== "Approved" && note !== "Changes requested") return null;
  const threshold = settings.per_issue_review.finding_threshold;
  const open = openFindings(await ledger(item.id), { sources: ["review"] });
  const findings = await Promise.all(
    open.map(async ({ file, line_start, line_end, priority, title, body, reviewer }) => {
      const words = body.ref ? ((await readOptional(body.ref.path)) ?? body.text) : body.text;
      const place = { file, line_start, line_end, priority, title };
      return { ...place, body, reviewer, words, blocks: isBlocking(priority, threshold) };
    }),
  );
  return { verdict: note === "Approved" ? "pass" : "fail", findings };
}

/** A cycle that could not be made yet, or added to, needs the file of its look. */
function neededLooks({ life }: PrContext): ReadonlySet<string> {
  const { owed, undone } = life().state;
  return new Set(
    [...owed, ...undone].flatMap((task) => (task.kind === "cycle" || task.kind === "join" ? [task.look] : [])),
  );
}

function forgetOld(folder: string, needed: ReadonlySet<string>): void {
  for (const old of looksIn(folder).slice(keptLooks)) if (!needed.has(old)) rmSync(old, { force: true });
}
