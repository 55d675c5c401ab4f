import { reworkItemId } from "../board/item-ids.js";
import { resolveFindings } from "../ledger/ledger.js";
import type { Looked, SeenItem } from "./events.js";
import { joinCycle } from "./join.js";
import { causeOf, keepWords, readyParts, wordsIn } from "./parts.js";
import { isGivenUp } from "./review.js";
import type { PrState } from "./state.js";
import type { PrStep } from "./step.js";

/** Starts the next cycle when there is reason to; beyond the limit a person decides. */
export function startCycle(step: PrStep, looked: Looked) {
  const wanted = takeWanted(step);
  const { state } = step;
  if (state.working !== null) return joinCycle(step, looked);
  if (state.escalated) return;
  // Asked for one that has been: that one is the answer.
  const isNew = wanted !== null && (wanted.cycle === null || wanted.cycle > state.cycle);
  if (!isNew && !readyParts(step, looked).some(([, one]) => one.cause)) return;
  const cycle = (isNew ? wanted.cycle : null) ?? state.cycle + 1;
  tellLimit(step, looked);
  if (cycle - state.forgiven > looked.limit.max) {
    return escalate(step, `Max rework cycles (${looked.limit.max}) exceeded`, looked.limit.max);
  }
  makeCycle(step, looked, cycle);
}

/** A person's words are kept until a cycle takes them along; whoever asks for a cycle that is not due yet is refused. */
function takeWanted(step: PrStep): PrState["wanted"] {
  const { wanted, working, escalated, cycle } = step.state;
  if (wanted === null) return null;
  const isEarly = working !== null && !escalated && wanted.cycle !== null && wanted.cycle > cycle;
  if (!isEarly) keepWords(step);
  step.set({ wanted: null });
  return wanted;
}

function makeCycle(step: PrStep, looked: Looked, cycle: number): void {
  const parts = readyParts(step, looked);
  for (const [id, one] of parts) step.deliver(id, { ...one, status: "delivered", cycle });
  const onlyConflict = parts.length > 0 && parts.every(([id]) => id.startsWith("conflict@"));
  const { projectId, number, baseBranch } = step.policy.pr;
  const told = parts.flatMap(([id, { words }]) => (words === undefined ? [id] : []));
  step.set({ cycle, working: { cycle, item: reworkItemId({ projectId, prNumber: number }, cycle) } });
  step.task({
    kind: "cycle",
    cycle,
    maxCycles: looked.limit.max,
    source: onlyConflict ? "merge_fix" : "rework",
    parts: told,
    look: looked.path,
    feedback: wordsIn(parts),
    reason: causeOf(told, looked, baseBranch),
    counted: cycle - step.state.forgiven,
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
  step.set({ escalated: true });
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
  step.set({ escalated: false, forgiven: state.cycle, reviewAsked: null });
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
  const stuck = looked.items.filter(isGivenUp);
  const told = (step.state.gaveUp ?? []).filter((id) => stuck.some((one) => one.id === id));
  const news = stuck.filter(({ id }) => !told.includes(id) && !step.state.judged.includes(id));
  // One that a person has put back into the queue is told of anew.
  if (news.length > 0 || told.length < (step.state.gaveUp?.length ?? 0))
    step.set({ gaveUp: [...told, ...news.map(({ id }) => id)] });
  for (const { reason } of news) {
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
  for (const [id, one] of parts) if (one.words !== undefined) step.deliver(id, { ...one, status: "answered" });
  const isOther = ([, { thread, words }]: (typeof parts)[number]) => thread === undefined && words === undefined;
  const others = parts.filter(isOther).map(([id]) => id);
  if (others.length > 0) step.task({ kind: "post", op: "summary", cycle, commit, parts: others });
}
