import type { FindingSource, Remark, Text } from "../finding.js";
import { add, supersedeFindings } from "../ledger/ledger.js";
import type { Looked, SeenCheck, SeenItem, SeenRemark } from "./events.js";
import type { Delivery } from "./state.js";
import type { PrStep } from "./step.js";
import { isBot, isTrusted } from "./trust.js";

/**
 * What has been said and checked since the last look. Each remark, check result and conflict is taken in once, under an
 * id of its own; what nobody may act on is remembered too, so that it is never mistaken for new.
 */
export function takeIn(step: PrStep, looked: Looked): void {
  for (const remark of looked.remarks) takeRemark(step, remark);
  forgetGone(step, looked);
  // What could not be asked says nothing, neither good nor bad.
  if (!looked.failed.some(({ part }) => part === "checks")) takeChecks(step, looked);
  takeConflict(step, looked);
  for (const item of looked.items) takeVerdict(step, item);
}

function takeRemark(step: PrStep, remark: SeenRemark) {
  const known = step.state.deliveries[remark.id];
  if (known) return takeAgain(step, remark, known);
  if (remark.own) return;
  const { login, digest } = remark;
  if (!isTrusted(step.policy.settings.trusted, remark)) {
    if (!hasWords(remark)) return step.deliver(remark.id, { status: "void" });
    step.log("info", `a remark of ${login ?? "unknown"}, who is not trusted, waits for a person (${remark.id})`);
    return step.deliver(remark.id, { status: "untrusted", login: login ?? "unknown", digest, ...threadOf(remark) });
  }
  if (isRepeated(step, remark)) return step.deliver(remark.id, { status: "repeated" });
  if (!asksForSomething(remark)) return step.deliver(remark.id, { status: "void" });
  const cause = remark.verdict === "changes_requested" || step.policy.settings.rework_on_comment;
  open(step, remark.id, {
    source: "pr-comment",
    reviewer: login ?? "unknown",
    remark: toRemark(remark),
    delivery: { ...threadOf(remark), digest, ...(cause ? { cause } : {}) },
  });
}

/** What an agent has stays as it got it; until then the newest words count, and a request may be taken back. */
function takeAgain(step: PrStep, { id, verdict, digest }: SeenRemark, known: Delivery) {
  const isEdited = known.digest !== undefined && known.digest !== digest;
  if (known.status === "untrusted" && isEdited) return step.deliver(id, { ...known, digest });
  if (known.status !== "waiting") return;
  if (verdict === "dismissed") return drop(step, id, "it was dismissed");
  if (!isEdited) return;
  if (!known.admitted) return step.deliver(id, { ...known, digest });
  // Other words than those that a person let through.
  const { login = "unknown", thread } = known;
  drop(step, id, "it was changed after it was let through");
  step.log("warn", `${id} was changed by ${login} after it was let through, and waits for a person again`);
  step.deliver(id, { status: "untrusted", login, digest, ...(thread === undefined ? {} : { thread }) });
}

const partOf = { inline: "inline", review: "reviews", comment: "comments" } as const;

/** Deleted before anybody acted on it. */
function forgetGone(step: PrStep, { remarks, failed }: Looked): void {
  const there = new Set(remarks.map(({ id }) => id));
  const asked = Object.entries(partOf).filter(([, part]) => !failed.some((one) => one.part === part));
  for (const [id, { status }] of Object.entries(step.state.deliveries)) {
    if (there.has(id) || (status !== "waiting" && status !== "untrusted")) continue;
    if (asked.some(([kind]) => id.startsWith(`${kind}:`))) drop(step, id, "it was deleted");
  }
}

/** Nothing is to be done about it any more. */
function drop(step: PrStep, id: string, reason: string): void {
  const finding = step.state.deliveries[id]?.finding;
  if (finding !== undefined) step.apply(supersedeFindings(step.life.ledger, { ids: [finding], reason, at: step.at }));
  step.deliver(id, { status: "void" });
}

/** An approval and an empty review are no feedback; a request for changes is, even without a word. */
function asksForSomething(remark: SeenRemark): boolean {
  if (remark.verdict === "changes_requested") return true;
  if (remark.verdict === "approved" || remark.verdict === "dismissed") return false;
  return hasWords(remark);
}
function hasWords({ body }: SeenRemark): boolean {
  return (body?.text.trim() ?? "") !== "";
}

function isRepeated({ state }: PrStep, { digest, login }: SeenRemark): boolean {
  return Object.values(state.deliveries).some(
    (one) => one.digest === digest && (isBot(login) || one.status === "waiting" || one.status === "delivered"),
  );
}

function threadOf({ thread }: SeenRemark): Pick<Delivery, "thread"> {
  return thread === null ? {} : { thread };
}

/** Remarks that a person may mean who names one: by its whole name, or by the number of a comment or an inline one alike. */
export function untrustedNamed(deliveries: Readonly<Record<string, Delivery>>, typed: string): string[] {
  const untrusted = Object.entries(deliveries).flatMap(([id, { status }]) => (status === "untrusted" ? [id] : []));
  return untrusted.includes(typed) ? [typed] : untrusted.filter((id) => id.endsWith(`:${typed}`));
}

/** A person lets a remark through that its author may not make. */
export function admit(step: PrStep, id: string) {
  const [name, ...others] = untrustedNamed(step.state.deliveries, id);
  if (name === undefined) return step.log("warn", `${id} is no remark that waits to be let through`);
  if (others.length > 0)
    return step.log("warn", `${id} fits ${[name, ...others].join(" and ")}: none of them is let through`);
  const { login = "unknown", thread, digest } = step.state.deliveries[name] ?? {};
  open(step, name, {
    source: "pr-comment",
    reviewer: login,
    remark: { ...nowhere, title: `Remark of ${login}, let through by a person`, body: { text: "" } },
    delivery: {
      login,
      admitted: true,
      cause: true,
      ...(thread === undefined ? {} : { thread }),
      ...(digest === undefined ? {} : { digest }),
    },
  });
}

/** Results count on the head alone, and failures start a cycle once nothing that is required still runs. */
function takeChecks(step: PrStep, { checks, pullRequest }: Looked): void {
  const current = checks.filter(({ commit }) => commit === pullRequest.head);
  const settled = !current.some(({ status, required }) => required && status === "pending");
  const failing = new Map(current.filter(({ status }) => status === "failure").map((one) => [checkId(one), one]));
  for (const [id, one] of Object.entries(step.state.deliveries)) {
    if (id.startsWith("check:") && one.status === "waiting" && !failing.has(id)) drop(step, id, "it fails no longer");
  }
  for (const [id, check] of failing) {
    const known = step.state.deliveries[id];
    const cause = check.required && settled;
    if (known?.status === "waiting" && cause) step.deliver(id, { ...known, cause });
    // One that was run again and fails after all is news.
    if (known && known.status !== "void") continue;
    open(step, id, {
      source: "ci",
      reviewer: check.name,
      remark: { ...nowhere, title: `CI: ${check.name} failed`, body: check.body ?? { text: "" } },
      delivery: cause ? { cause } : {},
    });
  }
}

export function checkId({ name, commit }: Pick<SeenCheck, "name" | "commit">): string {
  return `check:${name}@${commit}`;
}
export function conflictId(head: string): string {
  return `conflict@${head}`;
}
export function ownId(item: string, index: number): string {
  return `own:${item}:${index}`;
}

function takeConflict(step: PrStep, { pullRequest }: Looked): void {
  const id = conflictId(pullRequest.head);
  for (const [other, one] of Object.entries(step.state.deliveries)) {
    const over = other !== id || pullRequest.mergeable === true;
    if (other.startsWith("conflict@") && one.status === "waiting" && over) drop(step, other, "it is there no longer");
  }
  const known = step.state.deliveries[id];
  if (pullRequest.mergeable !== false || (known && known.status !== "void")) return;
  const base = step.policy.pr.baseBranch;
  open(step, id, {
    source: "merge",
    reviewer: "merge",
    remark: { ...nowhere, title: `The branch conflicts with ${base}`, body: { text: "" } },
    delivery: { cause: true },
  });
}

/** Our reviewer's word comes from the board, never from what we posted. */
function takeVerdict(step: PrStep, item: SeenItem) {
  const { verdict, id, commit } = item;
  if (item.source !== "code_review" || !verdict || commit === null || step.state.judged.includes(id)) return;
  step.set({ judged: [...step.state.judged, id] });
  step.task({ kind: "post", op: "review", item: id, commit, verdict: verdict.verdict });
  if (verdict.verdict === "pass") return step.set({ passed: commit });
  // A verdict on an older state of the work says nothing about this one.
  if (item.cycle !== step.state.cycle) return;
  const noneBlocks = !verdict.findings.some(({ blocks }) => blocks);
  verdict.findings.forEach((finding, index) => {
    open(step, ownId(id, index), {
      source: "review",
      reviewer: finding.reviewer,
      remark: finding,
      delivery: finding.blocks || noneBlocks ? { cause: true } : {},
    });
  });
}

const nowhere = { file: "", line_start: 0, line_end: 0, priority: 1 } as const;

interface Opened {
  readonly source: FindingSource;
  readonly reviewer: string;
  readonly remark: Remark;
  readonly delivery: Omit<Delivery, "status">;
}
function open(step: PrStep, id: string, { source, reviewer, remark, delivery }: Opened): void {
  const finding = step.apply(
    add(step.life.ledger, {
      stage: "pr",
      source,
      reviewer,
      outcome: "fail",
      visit: step.state.cycle + 1,
      at: step.at,
      commit: step.state.head,
      runId: "",
      remarks: [remark],
    }),
  );
  step.deliver(id, { status: "waiting", ...delivery, ...(finding === null ? {} : { finding }) });
}

function toRemark({ path, line, body, verdict }: SeenRemark): Remark {
  const text: Text = body ?? { text: "" };
  const asks = verdict === "changes_requested" ? "Changes requested" : "Remark";
  const lines = line ?? 0;
  return {
    file: path,
    line_start: lines,
    line_end: lines,
    priority: verdict === "changes_requested" ? 1 : 2,
    title: firstLine(text.text) || asks,
    body: text,
  };
}
function firstLine(text: string): string {
  const line = text.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
