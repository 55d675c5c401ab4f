import type { Remark } from "../finding.js";
import { folderName } from "../folder-name.js";
import { openFindings } from "../ledger/ledger.js";
import type { CommandEnded } from "./events.js";
import {
  closeOthers,
  commandRemark,
  isByHand,
  isPass,
  logAllowed,
  logDiscarded,
  raiseAgainst,
  visitOf,
} from "./ledger-parts.js";
import { gateAttempts } from "./policy.js";
import { brokenPreconditions, landsNothing } from "./preconditions.js";
import { isUnchangedSinceGate, noteSeen } from "./progress.js";
import { setsUpFirst } from "./set-up.js";
import type { GateState, Work } from "./state.js";
import type { Step } from "./step.js";
import { oweTurn } from "./turns.js";

/**
 * The gate judges one exact commit, clean. Every required command runs, in order, whatever the others say; only passes
 * are remembered, per tree. Its failures are counted since its last pass and by no other counter.
 */
const rememberedTrees = 4;
const cachedTrees = 2;

export function enterGate(step: Step) {
  const { work, gate } = step.state;
  if (!work) return step.fail("worktree_failed", "The worktree could not be read");
  const folder = step.newFolder("gate");
  setGate(step, { runs: gate.runs + 1, evidence: {}, raised: [], failed: [], folder });
  const max = gateAttempts(step.policy);
  const started = { attempt: gate.failures + 1, max_attempts: max, commit: work.head, run: gate.runs + 1 };
  step.report({ type: "gate-started", ...started });
  const broken = brokenPreconditions(step, work);
  if (broken.length > 0) {
    raiseNow(step, broken);
    return gateFailed(
      step,
      work,
      broken.map((remark) => remark.title),
    );
  }
  if (landsNothing(step.state)) return gatePassed(step, work);
  nextCommand(step, work);
}

export function afterGateCommand(step: Step, event: CommandEnded) {
  const { work } = step.state;
  if (!work || !judgeCommand(step, event, work))
    return step.fail("gate_failed", "A gate command ended that is not known");
  nextCommand(step, work);
}

/** One that ended by itself while the life is wound down: what it came to counts, and nothing follows from it. */
export function absorbGateCommand(step: Step, event: CommandEnded): void {
  const { work } = step.state;
  if (work) judgeCommand(step, event, work);
}

/** What had to be set up before the next command is. */
export function continueGate(step: Step) {
  const { work } = step.state;
  if (work) nextCommand(step, work);
}

/** Keeps what a command came to; a failure that is not allowed is a finding. False: no such command is waited for. */
function judgeCommand(step: Step, event: CommandEnded, work: Work): boolean {
  const { gate } = step.state;
  const name = commandNames(step).find((one) => !(one in (gate.evidence ?? {})));
  const command = name === undefined ? undefined : step.policy.settings.commands[name];
  if (name === undefined || !command) return false;
  logDiscarded(step, name, event);
  const passed = isPass(event);
  setGate(step, { evidence: { ...gate.evidence, [name]: passed } });
  if (passed) remember(step, work.tree, name);
  else if (command.allow_fail) logAllowed(step, name, event);
  else {
    raiseNow(step, [commandRemark(event, { name, command: command.command })]);
    setGate(step, { failed: [...step.state.gate.failed, name] });
  }
  return true;
}

/** The names of the commands a commit must pass, in order. */
export function commandNames(step: Step): readonly string[] {
  return [...new Set(step.policy.settings.evidence_check.required)];
}

export function isRemembered(gate: GateState, tree: string, name: string): boolean {
  return gate.passed.includes(tree) || gate.cache.some((entry) => entry.tree === tree && entry.names.includes(name));
}

export function remember(step: Step, tree: string, name: string): void {
  const { cache } = step.state.gate;
  const names = cache.find((entry) => entry.tree === tree)?.names ?? [];
  const others = cache.filter((entry) => entry.tree !== tree);
  setGate(step, { cache: [...others, { tree, names: [...names, name] }].slice(-cachedTrees) });
}
export function rememberTree(step: Step, tree: string): void {
  const others = step.state.gate.passed.filter((one) => one !== tree);
  setGate(step, { passed: [...others, tree].slice(-rememberedTrees) });
}

function nextCommand(step: Step, work: Work) {
  for (const name of commandNames(step)) {
    const { gate } = step.state;
    const command = step.policy.settings.commands[name];
    if (name in (gate.evidence ?? {})) continue;
    if (!command) return step.fail("gate_failed", `The gate requires ${name}, which is not configured`);
    if (isRemembered(gate, work.tree, name)) {
      setGate(step, { evidence: { ...gate.evidence, [name]: true } });
      continue;
    }
    if (setsUpFirst(step)) return;
    return step.owe({
      kind: "command",
      key: `gate:${gate.runs}:${name}`,
      folder: `${gate.folder}/${folderName(name)}`,
      stage: "gate",
      name,
      command: command.command,
      timeoutSeconds: command.timeout,
      exclusive: command.exclusive,
      place: "issue",
      commit: work.head,
    });
  }
  const { failed } = step.state.gate;
  if (failed.length > 0)
    return gateFailed(
      step,
      work,
      failed.map((name) => `${name} failed`),
    );
  rememberTree(step, work.tree);
  gatePassed(step, work);
}

function gatePassed(step: Step, work: Work): void {
  const { gate } = step.state;
  // Refused after this, a landing by hand leaves what was found as it is.
  if (!isByHand(step)) closeHeld(step);
  const evidence = gate.evidence ?? {};
  step.report({ type: "gate-passed", attempt: gate.failures + 1, commit: work.head, evidence });
  setGate(step, { failures: 0, evidence: null, tree: work.tree });
  step.go(isByHand(step) || step.policy.item ? "finalizing" : gate.next);
}

/** The gate has passed: what it found before holds no more. */
export function closeHeld(step: Step): void {
  const { gate, landing, work } = step.state;
  closeOthers(step, "gate", { keep: [], passed: true, visit: gate.runs });
  // What this life or the one before was to merge is in the work. Where nothing is known of that, only landing tells.
  if (landing.demanded && work?.containsBase) closeOthers(step, "merge", { keep: [], passed: true, visit: gate.runs });
}

function gateFailed(step: Step, work: Work, reasons: readonly string[]) {
  const { gate, review } = step.state;
  const keep = [...gate.raised, ...unjudged(step)];
  if (!isByHand(step)) closeOthers(step, "gate", { keep, passed: false, visit: gate.runs });
  const failures = gate.failures + 1;
  const evidence = gate.evidence ?? {};
  const findings = gate.raised.length;
  step.report({ type: "gate-failed", attempt: failures, findings, reasons, evidence });
  if (gate.next === "reviewing") step.set({ fixersRefused: (step.state.fixersRefused ?? 0) + 1 });
  setGate(step, { failures, evidence: null, next: "session-ending" });
  const isStuck = isUnchangedSinceGate(step, work);
  noteSeen(step, work, "gate");
  const max = gateAttempts(step.policy);
  if (step.policy.trigger) return step.fail("gate_failed", `The gate failed: ${reasons.join("; ")}`);
  if (failures >= max || isStuck) {
    step.report({ type: "session-end-skipped", reason: "gate_failed" });
    return failures >= max
      ? step.fail(
          "gate_failed",
          `The gate failed ${failures === 1 ? "once" : `${failures} times`}: ${reasons.join("; ")}`,
        )
      : step.fail("no_progress", `No progress: the gate saw the same tree again: ${reasons.join("; ")}`);
  }
  const fixer = review.fixer !== null;
  oweTurn(step, {
    role: fixer ? "fixer" : "implementer",
    stage: fixer ? "per_issue_review" : "implement",
    prompt: "gate_followup",
    attempt: failures + 1,
    maxAttempts: max,
    session: review.fixer ? review.fixer.session : step.state.session,
  });
}

/** Of commands that did not run, because the commit itself was at fault: they have judged nothing. */
function unjudged(step: Step): string[] {
  const { evidence } = step.state.gate;
  const names = commandNames(step).filter((name) => !(name in (evidence ?? {})));
  const open = openFindings(step.ledger, { stages: ["gate"] });
  return open.filter(({ reviewer }) => names.includes(reviewer)).map(({ id }) => id);
}

function raiseNow(step: Step, remarks: readonly Remark[]): void {
  const { runs, raised } = step.state.gate;
  const visit = visitOf(step, { stage: "gate", source: "gate", reviewer: "gate", visit: runs, remarks });
  setGate(step, { raised: [...raised, ...raiseAgainst(step, visit)] });
}

function setGate(step: Step, patch: Partial<GateState>): void {
  step.set({ gate: { ...step.state.gate, ...patch } });
}
