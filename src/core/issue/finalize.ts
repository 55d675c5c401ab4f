import type { Remark } from "../finding.js";
import { folderName } from "../folder-name.js";
import { add } from "../ledger/ledger.js";
import { shownName } from "../plain-text.js";
import type { CommandEnded, LandOutcome, OpenOutcome, Proposed, PushOutcome } from "./events.js";
import { closeHeld, commandNames, isRemembered, remember, rememberTree } from "./gate.js";
import { endHalted, isStopping } from "./halt.js";
import { closeOthers, commandRemark, isByHand, isPass, plainRemark, raiseAgainst, visitOf } from "./ledger-parts.js";
import { deliveryMode, gateAttempts } from "./policy.js";
import { landsNothing } from "./preconditions.js";
import { endItem, enterItemEnd, leaveToAgent, owePush } from "./pull-request.js";
import { isReviewDue } from "./review.js";
import type { LandingState } from "./state.js";
import type { Step } from "./step.js";
import { endTakenAway } from "./taken-away.js";
import { oweTurn } from "./turns.js";
import { dropUnchecked } from "./unchecked.js";

/**
 * Landing: propose, gate the proposed commit where its tree has not been gated, commit. What needs no gate any more lands
 * as soon as it is proposed. A mechanical merge of the reviewed commit and the target needs the gate again, not the
 * review; a conflict goes back to the agent.
 */
const mergeRounds = 3;
/** Somebody who commits more often than a gate takes would keep everything from landing: then the line goes ahead of them. */
const movesWaitedFor = 3;
const landingWaitMs = 10_000;

export function enterFinalize(step: Step) {
  const { state, policy } = step;
  if (policy.item) return enterItemEnd(step, policy.item);
  if (landsNothing(state)) return succeed(step, null);
  const mode = deliveryMode(policy);
  if (mode === "merge") return propose(step);
  if (mode === "pr") return owePush(step);
  const proposals = state.landing.proposals + 1;
  setLanding(step, { proposals });
  step.owe({ kind: "land", key: `land:branch:${proposals}`, op: "branch", head: headOf(step) });
}

export function afterLand(step: Step, outcome: LandOutcome) {
  switch (outcome.type) {
    case "proposed": {
      if (isStopping(step.state)) return endHalted(step);
      setProposed(step, outcome);
      return nextCommand(step);
    }
    case "conflict":
      return conflict(step, outcome.tip, outcome.files);
    case "landed": {
      const { commit, behind } = outcome;
      if (outcome.proposed) setProposed(step, outcome.proposed);
      if (behind !== null) setLanding(step, { behind: true });
      const { proposed } = step.state.landing;
      const merged = proposed?.merged ?? false;
      const target_branch = proposed ? step.policy.target : branchName(step);
      mergeHeld(step);
      step.report({ type: "landed", commit, target_branch, merged, behind });
      return succeed(step, commit);
    }
    case "moved":
      setLanding(step, { moved: (step.state.landing.moved ?? 0) + 1 });
      return isStopping(step.state) ? endHalted(step) : propose(step);
    case "waits":
      return waitToLand(step, outcome.reason);
    case "refused":
      return step.fail("landing_failed", `Landing was refused: ${outcome.reason}`);
    case "closed":
      return endTakenAway(step, outcome.how ?? (outcome.blocked ? "blocked" : "closed"));
  }
}

export function afterPush(step: Step, outcome: PushOutcome) {
  const head = headOf(step);
  switch (outcome.type) {
    case "pushed":
      closeOthers(step, "push", { keep: [], passed: true, visit: step.state.landing.proposals });
      mergeHeld(step);
      if (step.policy.item) return endItem(step, { message: "Pushed", commit: head });
      return step.owe({ kind: "pull-request", key: `pull-request:${step.state.landing.proposals}`, head });
    case "moved": {
      if (step.policy.options.only === "push") return leaveToAgent(step, "Somebody else has pushed to the branch");
      const branch = branchName(step);
      const title = `Somebody else has pushed to ${branch}`;
      const body = `Merge ${outcome.tip}, the newest commit of ${branch} at origin, resolve the conflicts and commit.`;
      raiseMerge(step, { tip: outcome.tip, remark: plainRemark(title, body, "merge"), source: "merge" });
      return sendBack(step, { why: title, branch });
    }
    case "closed": {
      const message = `${outcome.reason} meanwhile: not pushed, the work is kept`;
      return step.end({ status: "interrupted", message, error: "closed", commit: null });
    }
    case "refused":
      if (tellAgent(step, outcome.reason)) return;
      setLanding(step, { refused: outcome.reason });
      return notDelivered(step, "Pushing", outcome);
    case "unreachable":
      return notDelivered(step, "Pushing", outcome);
  }
}

/**
 * Refused in the life before too, so nobody has lifted it: maybe it is about what is in it, and that is an agent's
 * business. It hears of a refusal once; after that somebody else has to change something.
 */
function tellAgent(step: Step, reason: string): boolean {
  const { state, policy, ledger } = step;
  const isKnown = ledger.findings.some(
    ({ stage, body }) => stage === "push" && gistOf(body.text).includes(gistOf(reason)),
  );
  if (state.deliver?.refused === undefined || isKnown || policy.options.only || state.halt || state.draining)
    return false;
  const title = `The push of ${branchName(step)} is refused`;
  const body = `The remote says:\n${reason}\n\nChange what it objects to and commit; if that is a commit of this branch, rewrite it.`;
  const visit = { stage: "push", source: "merge", reviewer: "push", visit: state.landing.proposals } as const;
  step.apply(add(ledger, visitOf(step, { ...visit, remarks: [plainRemark(title, body, "push")] })));
  setLanding(step, { delivers: null });
  step.set({ deliver: null, marker: null });
  const { session } = state;
  const plan = { role: "implementer", stage: "implement", prompt: "gate_followup", attempt: 1 } as const;
  oweTurn(step, { ...plan, maxAttempts: gateAttempts(policy), session, earlier: session !== null });
  return true;
}

/** Without what differs each time: ids, times, links made for the occasion. */
function gistOf(words: string): string {
  return words.replace(/\S*\d\S*/g, "#");
}

export function afterPullRequest(step: Step, outcome: OpenOutcome) {
  if (outcome.type !== "opened") return notDelivered(step, "Opening the pull request", outcome);
  const { number, url } = outcome;
  step.set({ pullRequest: { number, url } });
  step.report({ type: "pull-request-opened", number, url, branch: branchName(step), commit: headOf(step) });
  succeed(step, headOf(step));
}

/** What was refused stays refused until somebody changes something; what could not be reached is tried again by a resume. */
function notDelivered(
  step: Step,
  what: string,
  outcome: { readonly type: "refused" | "unreachable"; readonly reason: string },
) {
  if (outcome.type === "refused") return step.fail("landing_failed", `${what} was refused: ${outcome.reason}`);
  const message = `${what} failed: ${outcome.reason}`;
  if (step.policy.options.watch && step.state.landing.proposals < deliveries) return waitToDeliver(step, message);
  step.set({ trackerOwed: true });
  step.end({ status: "interrupted", message, error: "forge_unreachable", commit: null });
}

export function afterLandingCommand(step: Step, event: CommandEnded) {
  const { landing } = step.state;
  const name = commandNames(step).find((one) => !(one in landing.evidence));
  const command = name === undefined ? undefined : step.policy.settings.commands[name];
  // Who was stopped proves nothing.
  if (isStopping(step.state) && event.stopped) return endHalted(step);
  if (!landing.proposed || name === undefined || !command) {
    return step.fail("landing_failed", "A landing command ended that is not known");
  }
  const passed = isPass(event);
  setLanding(step, { evidence: { ...landing.evidence, [name]: passed || command.allow_fail } });
  const { tip, tree } = landing.proposed;
  if (passed) remember(step, tree, name);
  else if (!command.allow_fail) {
    raiseMerge(step, { tip, remark: commandRemark(event, { name, command: command.command }), source: "gate" });
  }
  if (isStopping(step.state)) return endHalted(step);
  nextCommand(step);
}

/** Visible, and over as soon as the target is right again, or the life is told to end. */
function waitToLand(step: Step, reason: string) {
  if (step.state.halt) return endHalted(step);
  const until = step.at + landingWaitMs;
  // Told once: it may be a long time until somebody comes.
  if (step.state.landing.waiting !== reason) step.report({ type: "waiting", for: reason, until: null });
  setLanding(step, { waiting: reason });
  step.oweTimer("landing", until);
}

export function afterLandingWait(step: Step) {
  if (step.state.halt) return endHalted(step);
  const { policy } = step;
  return policy.item || deliveryMode(policy) === "pr" ? owePush(step) : propose(step);
}

/** Who watches is there when the forge is back. */
const deliveries = 60;
const deliveryWaitMs = 60_000;
function waitToDeliver(step: Step, reason: string) {
  if (step.state.halt) return endHalted(step);
  const until = step.at + deliveryWaitMs;
  if (step.state.landing.waiting !== reason) step.report({ type: "waiting", for: reason, until });
  setLanding(step, { waiting: reason });
  step.oweTimer("delivery", until);
}

function propose(step: Step): void {
  const proposals = step.state.landing.proposals + 1;
  setLanding(step, { proposals, proposed: null });
  const { target } = step.policy;
  const gated = commandNames(step).length === 0 ? null : step.state.gate.passed;
  const key = `land:propose:${proposals}`;
  step.owe({ kind: "land", key, op: "propose", head: headOf(step), target, gated, ...insistence(step) });
}

function insistence({ state }: Step): { readonly insists?: true } {
  return (state.landing.moved ?? 0) >= movesWaitedFor ? { insists: true } : {};
}

function setProposed(step: Step, { tip, commit, tree, merged }: Proposed): void {
  setLanding(step, { proposed: { tip, commit, tree, merged }, evidence: {}, raised: [], folder: "", waiting: "" });
}

function nextCommand(step: Step) {
  const { landing, gate } = step.state;
  const { proposed } = landing;
  if (!proposed) return;
  const { settings, target } = step.policy;
  const done = { ...landing.evidence };
  for (const name of commandNames(step)) {
    if (name in done) continue;
    if (isRemembered(gate, proposed.tree, name)) {
      done[name] = true;
      setLanding(step, { evidence: { ...done } });
      continue;
    }
    return oweCommand(step, name, settings.commands[name]);
  }
  if (Object.values(done).some((passed) => !passed)) return gateConflict(step);
  rememberTree(step, proposed.tree);
  const { tip, commit } = proposed;
  const key = `land:commit:${landing.proposals}`;
  step.owe({ kind: "land", key, op: "commit", tip, commit, target, head: headOf(step), ...insistence(step) });
}

function oweCommand(step: Step, name: string, command: Step["policy"]["settings"]["commands"][string] | undefined) {
  const { landing } = step.state;
  if (!command || !landing.proposed)
    return step.fail("landing_failed", `The gate requires ${name}, which is not configured`);
  const folder = landing.folder === "" ? step.newFolder("landing") : landing.folder;
  setLanding(step, { folder });
  step.owe({
    kind: "command",
    key: `landing:${landing.proposals}:${name}`,
    folder: `${folder}/${folderName(name)}`,
    stage: "landing",
    name,
    command: command.command,
    timeoutSeconds: command.timeout,
    exclusive: command.exclusive,
    place: "landing",
    commit: landing.proposed.commit,
  });
}

function conflict(step: Step, tip: string, files: readonly string[]): void {
  const listed = files.slice(0, 100).map(shownName);
  const more = files.length > listed.length ? `\n… and ${files.length - listed.length} more` : "";
  const body = `Merge ${tip} into the branch, resolve the conflicts and commit. Files in conflict:\n${listed.join("\n")}${more}`;
  const remark = plainRemark(`Conflict with ${step.policy.target}`, body, "merge");
  raiseMerge(step, { tip, remark, source: "merge" });
  sendBack(step, { why: `It conflicts with ${step.policy.target}` });
}

/** Each side passes alone, together they do not: the agent must merge and repair. */
function gateConflict(step: Step): void {
  sendBack(step, { why: `The gate fails on the merge with ${step.policy.target}` });
}

/** `branch`: whose newest commit is to be merged, where it is not the target's. */
function sendBack(step: Step, { why, branch = null }: { readonly why: string; readonly branch?: string | null }) {
  const { landing, gate } = step.state;
  if (!isByHand(step)) closeOthers(step, "merge", { keep: landing.raised, passed: false, visit: landing.rounds + 1 });
  const rounds = landing.rounds + 1;
  const demandedOf = branch === null && landing.demandedOf === undefined ? {} : { demandedOf: branch };
  setLanding(step, { rounds, demanded: true, ...demandedOf, proposed: null, raised: [], delivers: null });
  step.set({ marker: null, deliver: null });
  if (step.state.halt) return endHalted(step);
  if (step.policy.trigger) return step.fail("merge_conflict", why);
  if (step.policy.options.only) return step.fail("landing_failed", why);
  if (rounds > mergeRounds) {
    const message = `${why}, ${mergeRounds} rounds of merging did not help`;
    return step.end({ status: "escalated", error: "merge_conflict", message, commit: null });
  }
  const plan = { role: "implementer", stage: "implement", prompt: "gate_followup" } as const;
  const attempt = gate.failures + 1;
  oweTurn(step, { ...plan, attempt, maxAttempts: gateAttempts(step.policy), session: step.state.session });
}

interface MergeFailure {
  /** What must be merged. */
  readonly tip: string;
  readonly remark: Remark;
  readonly source: "gate" | "merge";
}

function raiseMerge(step: Step, { tip, remark, source }: MergeFailure): void {
  const { landing } = step.state;
  const how = { stage: "merge", source, reviewer: "merge", visit: landing.rounds + 1 } as const;
  const visit = visitOf(step, { ...how, remarks: [remark] });
  setLanding(step, { raised: [...landing.raised, ...raiseAgainst(step, visit)] });
  // With the finding, whatever ends the life next: what a later one contains is judged by it. A trigger's is its baseline.
  if (!step.policy.trigger) step.set({ unmerged: tip });
}

/** Nothing stands between the work and where it belongs, whichever life was told that something did. */
function mergeHeld(step: Step): void {
  closeOthers(step, "merge", { keep: [], passed: true, visit: step.state.landing.rounds + 1 });
}

function succeed(step: Step, commit: string | null): void {
  const byHand = isByHand(step);
  if (byHand) {
    closeHeld(step);
    dropUnchecked(step);
  }
  const reviewed = isReviewDue(step) || (commit !== null && step.state.review.passed !== null);
  const message = byHand ? "Landed by hand" : reviewed ? "Review passed" : "No review required";
  step.end({ status: "success", message, error: null, commit });
}

function branchName({ state, policy }: Step): string {
  if (policy.trigger) return `ratchet/run-${policy.runId}`;
  return state.branch ?? `ratchet/${policy.item?.issueId ?? state.issueId}`;
}
function headOf({ state }: Step): string {
  return state.work?.head ?? state.baseSha;
}
function setLanding(step: Step, patch: Partial<LandingState>): void {
  step.set({ landing: { ...step.state.landing, ...patch } });
}
