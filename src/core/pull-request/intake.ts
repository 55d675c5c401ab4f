import type { FindingSource, Remark, Text } from "../finding.js";
import { add } from "../ledger/ledger.js";
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
  takeChecks(step, looked);
  takeConflict(step, looked);
  for (const item of looked.items) takeVerdict(step, item);
}

function takeRemark(step: PrStep, remark: SeenRemark) {
  const known = step.state.deliveries[remark.id];
  // A request for changes that its author took back before anybody acted on it.
  if (known?.status === "waiting" && remark.verdict === "dismissed") {
    return step.deliver(remark.id, { status: "void" });
  }
  if (known || remark.own) return;
  const { login, digest } = remark;
  if (!isTrusted(step.policy.settings.trusted, remark)) {
    if (!hasWords(remark)) return step.deliver(remark.id, { status: "void" });
    step.log("info", `a remark of ${login ?? "unknown"}, who is not trusted, waits for a person (${remark.id})`);
    return step.deliver(remark.id, { status: "untrusted", login: login ?? "unknown", ...threadOf(remark) });
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

/** A person lets a remark through that its author may not make. */
export function admit(step: PrStep, id: string) {
  const name = Object.keys(step.state.deliveries).find((one) => one === id || one.endsWith(`:${id}`));
  const known = name === undefined ? undefined : step.state.deliveries[name];
  if (name === undefined || known?.status !== "untrusted") {
    return step.log("warn", `${id} is no remark that waits to be let through`);
  }
  open(step, name, {
    source: "pr-comment",
    reviewer: known.login ?? "unknown",
    remark: { ...nowhere, title: `Remark of ${known.login ?? "unknown"}, let through by a person`, body: { text: "" } },
    delivery: { ...(known.thread === undefined ? {} : { thread: known.thread }), cause: true },
  });
}

/** Results count on the head alone, and failures start a cycle once nothing that is required still runs. */
function takeChecks(step: PrStep, { checks, pullRequest }: Looked): void {
  const current = checks.filter(({ commit }) => commit === pullRequest.head);
  const settled = !current.some(({ status, required }) => required && status === "pending");
  const failing = new Map(current.filter(({ status }) => status === "failure").map((one) => [checkId(one), one]));
  for (const [id, one] of Object.entries(step.state.deliveries)) {
    if (id.startsWith("check:") && one.status === "waiting" && !failing.has(id)) step.deliver(id, { status: "void" });
  }
  for (const [id, check] of failing) {
    const known = step.state.deliveries[id];
    const cause = check.required && settled;
    if (known?.status === "waiting" && cause) step.deliver(id, { ...known, cause });
    if (known) continue;
    open(step, id, {
      source: "ci",
      reviewer: check.name,
      remark: { ...nowhere, title: `CI: ${check.name} failed`, body: check.body ?? { text: "" } },
      delivery: cause ? { cause } : {},
    });
  }
}

function checkId({ name, commit }: SeenCheck): string {
  return `check:${name}@${commit}`;
}

function takeConflict(step: PrStep, { pullRequest }: Looked): void {
  const id = `conflict@${pullRequest.head}`;
  for (const [other, one] of Object.entries(step.state.deliveries)) {
    const over = other !== id || pullRequest.mergeable === true;
    if (other.startsWith("conflict@") && one.status === "waiting" && over) step.deliver(other, { status: "void" });
  }
  if (pullRequest.mergeable !== false || step.state.deliveries[id]) return;
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
  verdict.findings.forEach((finding, index) => {
    open(step, `own:${id}:${index}`, {
      source: "review",
      reviewer: finding.reviewer,
      remark: finding,
      delivery: finding.blocks ? { cause: true } : {},
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
