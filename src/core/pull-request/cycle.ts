import { reworkItemId } from "../board/item-ids.js";
import { resolveFindings } from "../ledger/ledger.js";
import type { Looked, SeenItem } from "./events.js";
import { checkId, conflictId, ownId } from "./intake.js";
import type { Delivery } from "./state.js";
import type { PrStep } from "./step.js";

/** Starts the next cycle when there is reason to; beyond the limit a person decides. */
export function startCycle(step: PrStep, looked: Looked) {
  const { state } = step;
  const { wanted } = state;
  // Asked for the cycle that is under way, or for one before it: that one is the answer.
  const isAnswered = wanted !== null && wanted.cycle !== null && wanted.cycle <= state.cycle;
  if (state.working !== null) {
    // A person's further words go along with the next cycle; the same ones again are this one's.
    const isNew = wanted?.feedback && wanted.feedback !== state.working.feedback;
    return isAnswered || !isNew ? step.set({ wanted: null }) : undefined;
  }
  if (isAnswered || state.escalated) return step.set({ wanted: null });
  if (wanted === null && !readyParts(step, looked).some(([, one]) => one.cause)) return;
  const cycle = wanted?.cycle ?? state.cycle + 1;
  tellLimit(step, looked);
  if (cycle - state.forgiven > looked.limit.max) {
    return escalate(step, `Max rework cycles (${looked.limit.max}) exceeded`, looked.limit.max);
  }
  makeCycle(step, looked, cycle);
}

/** What waits and whose words this look has: what could not be fetched stays for the next cycle. */
function readyParts({ state }: PrStep, looked: Looked): [string, Delivery][] {
  const there = new Set([
    ...looked.remarks.map(({ id }) => id),
    ...looked.checks.map(checkId),
    ...looked.items.flatMap(({ id, verdict }) => verdict?.findings.map((_, index) => ownId(id, index)) ?? []),
    conflictId(looked.pullRequest.head),
  ]);
  return Object.entries(state.deliveries).filter(([id, { status }]) => status === "waiting" && there.has(id));
}

function makeCycle(step: PrStep, looked: Looked, cycle: number): void {
  const { wanted } = step.state;
  const parts = readyParts(step, looked);
  for (const [id, one] of parts) step.deliver(id, { ...one, status: "delivered", cycle });
  const onlyConflict = parts.length > 0 && parts.every(([id]) => id.startsWith("conflict@"));
  const source = onlyConflict && !wanted?.feedback ? "merge_fix" : "rework";
  const { projectId, number } = step.policy.pr;
  step.set({
    cycle,
    working: { cycle, item: reworkItemId({ projectId, prNumber: number }, cycle), feedback: wanted?.feedback ?? null },
    wanted: null,
  });
  step.task({
    kind: "cycle",
    cycle,
    maxCycles: looked.limit.max,
    source,
    parts: parts.map(([id]) => id),
    look: looked.path,
    feedback: wanted?.feedback ?? null,
    predecessor: (openReview(looked.items) ?? looked.items.findLast(isStuck))?.id ?? null,
  });
}

function openReview(items: readonly SeenItem[]): SeenItem | undefined {
  return items.findLast(({ source, status }) => source === "code_review" && status !== "completed");
}

/** A rework that goes on only when a person says so. */
function isStuck({ source, status }: SeenItem): boolean {
  if (source !== "rework" && source !== "merge_fix") return false;
  return status === "waiting_for_response" || status === "quarantined";
}

function tellLimit(step: PrStep, { limit }: Looked): void {
  if (limit.ignored !== null && limit.ignored !== step.state.toldIgnored) {
    step.set({ toldIgnored: limit.ignored });
    step.note({ type: "log", level: "warn", text: limit.ignored });
  }
  if (step.state.toldDefault || limit.from !== "default") return;
  step.set({ toldDefault: true });
  const text = `no max_rework_cycles is set: ${limit.max} is used`;
  step.note({ type: "log", level: "info", text });
}

function escalate(step: PrStep, reason: string, maxCycles: number): void {
  step.set({ escalated: true, wanted: null });
  step.task({ kind: "escalate", reason, maxCycles });
  step.task({ kind: "post", op: "escalation", reason });
  step.report({ type: "escalated", reason, dossier: null });
}

/** What became of the rework that is under way. */
export function followRework(step: PrStep, looked: Looked) {
  const { working, escalated } = step.state;
  const item = looked.items.find(({ id }) => id === working?.item);
  if (!working || !item) return;
  if (isStuck(item) && !escalated) {
    const why = item.reason ?? "it ended without a result";
    return looked.escalated
      ? step.set({ escalated: true })
      : escalate(step, `Rework cycle ${working.cycle} needs a person: ${why}`, looked.limit.max);
  }
  answerPushed(step, looked);
}

/** The rework is done: its feedback is answered. */
export function answerPushed(step: PrStep, looked: Looked): void {
  const { working } = step.state;
  const item = looked.items.find(({ id }) => id === working?.item);
  if (!working || item?.status !== "completed") return;
  step.set({ working: null });
  // Completed by hand: whoever did it has said that it is done, at the head that is there.
  answer(step, working.cycle, item.commit ?? looked.pullRequest.head);
}

/**
 * A person has dealt with it (`retry`): the cycles so far count no more, and what a rework that came to nothing was to
 * answer goes along with the next.
 */
export function noticeDecision(step: PrStep, { escalated, items }: Looked): void {
  const { state } = step;
  const told = !state.owed.some(({ kind }) => kind === "escalate");
  if (!state.escalated || escalated || !told) return;
  step.set({ escalated: false, forgiven: state.cycle });
  const { working } = state;
  const item = items.find(({ id }) => id === working?.item);
  if (!working || !item || !isStuck(item)) return;
  step.set({ working: null });
  takeBack(step, working.cycle);
}

/** The last cycle of one that was closed: pushed all the same, or cut short. True: cut short. */
export function reviveCycle(step: PrStep, { items }: Looked): boolean {
  const { cycle } = step.state;
  if (isBeingAnswered(step, cycle)) return false;
  const { projectId, number } = step.policy.pr;
  const id = reworkItemId({ projectId, prNumber: number }, cycle);
  const pushed = items.find((one) => one.id === id && one.status === "completed")?.commit ?? null;
  if (pushed === null) return takeBack(step, cycle);
  answer(step, cycle, pushed);
  return false;
}

/** Its end found it pushed, and the posts are still on their way. */
function isBeingAnswered({ state }: PrStep, cycle: number): boolean {
  return state.owed.some((task) => task.kind === "post" && "cycle" in task && task.cycle === cycle);
}

/** What a cycle that came to nothing was to answer waits for the next; false: there was nothing. */
function takeBack(step: PrStep, cut: number): boolean {
  let some = false;
  for (const [id, { cycle, ...one }] of Object.entries(step.state.deliveries)) {
    if (cycle !== cut || one.status !== "delivered") continue;
    step.deliver(id, { ...one, status: "waiting" });
    some = true;
  }
  return some;
}

/** Our reviewer has given up on a review: a person is asked, once. */
export function followReviews(step: PrStep, looked: Looked): void {
  if (!step.policy.settings.review.enabled) return;
  for (const { id, source, status, reason } of looked.items) {
    const gaveUp = source === "code_review" && status === "waiting_for_response" && reason !== null;
    if (!gaveUp || step.state.judged.includes(id)) continue;
    step.set({ judged: [...step.state.judged, id] });
    if (!step.state.escalated) escalate(step, `No verdict on the pull request: ${reason}`, looked.limit.max);
  }
}

/** Everything that went into the cycle is answered with the commit, once. */
function answer(step: PrStep, cycle: number, commit: string): void {
  const parts = Object.entries(step.state.deliveries).filter(
    ([, one]) => one.cycle === cycle && one.status === "delivered",
  );
  const findings = parts.flatMap(([, { finding }]) => (finding === undefined ? [] : [finding]));
  step.apply(resolveFindings(step.life.ledger, { ids: findings, at: step.at, commit }));
  const threads = new Set(parts.flatMap(([, { thread }]) => (thread === undefined ? [] : [thread])));
  for (const thread of threads) step.task({ kind: "post", op: "reply", thread, cycle, commit });
  const others = parts.filter(([, { thread }]) => thread === undefined).map(([id]) => id);
  if (others.length > 0) step.task({ kind: "post", op: "summary", cycle, commit, parts: others });
}
