import type { FindingSource, Ledger, Remark } from "../finding.js";
import { add, type LedgerChange, resolveStage, supersedeFindings, supersedeStage } from "../ledger/ledger.js";
import type { Visit } from "../ledger/visit.js";
import type { CommandEnded } from "./events.js";
import type { Step } from "./step.js";

/** A visit of a stage by this life, now. */
export function visitOf(
  step: Step,
  visit: Pick<Visit, "stage" | "source" | "reviewer" | "author" | "visit" | "remarks" | "threshold">,
): Visit {
  const { policy, at } = step;
  const commit = step.state.work?.head ?? null;
  return { ...visit, visit: trueVisit(step, visit), outcome: "fail", at, commit, runId: policy.runId };
}

/** A ledger outlives a life: what this one counts comes after the visits that earlier ones reported from. */
function trueVisit(step: Step, { stage, visit }: Pick<Visit, "stage" | "visit">): number {
  const [name = stage] = stage.split("/");
  const { visitsBefore = {} } = step.state;
  const before = visitsBefore[name] ?? lastVisit(step.ledger, name);
  if (!(name in visitsBefore)) step.set({ visitsBefore: { ...visitsBefore, [name]: before } });
  return before + visit;
}

function lastVisit({ findings }: Ledger, name: string): number {
  const visits = findings.flatMap((finding) => [finding, ...(finding.earlier ?? [])]);
  const own = visits.filter(({ stage }) => stage === name || stage.startsWith(`${name}/`));
  return own.reduce((last, { visit }) => Math.max(last, visit), 0);
}

/** What a check found against the work; the ids that were raised. */
export function raiseAgainst(step: Step, visit: Visit): string[] {
  const change = add(step.ledger, visit);
  if (!isByHand(step)) return step.apply(change);
  return tryAgainst(step, change);
}

/** A landing by hand ends with what is found against it: what was known before stays as it is, a person's waiver too. */
function tryAgainst(step: Step, { ledger, reports }: LedgerChange): string[] {
  const before = new Map(step.ledger.findings.map((finding) => [finding.id, finding]));
  const findings = ledger.findings.map((finding) => before.get(finding.id) ?? finding);
  const found = reports.flatMap((report) => (report.type === "finding-raised" ? [report] : []));
  const statusOf = (id: string) => before.get(id)?.status ?? "open";
  step.apply({ ledger: { ...ledger, findings }, reports: found.filter(({ finding }) => statusOf(finding) === "open") });
  for (const { finding, title } of found.filter((one) => statusOf(one.finding) !== "open"))
    step.log("info", `Found again, and it stays ${statusOf(finding)}: ${title} (${finding})`);
  const raised = found.map(({ finding }) => finding);
  const { tried = [] } = step.state;
  step.set({ tried: [...tried, ...raised.filter((id) => !before.has(id))] });
  return raised;
}

/** A landing by hand that came to nothing leaves the ledger as it was. */
export function forgetTried(step: Step): void {
  const { tried: ids = [] } = step.state;
  if (ids.length === 0) return;
  step.apply(supersedeFindings(step.ledger, { ids, reason: "the landing by hand was refused", at: step.at }));
}

export function isByHand({ policy }: Step): boolean {
  return policy.options.only === "land";
}

/**
 * Closes what the stage reported before, all but `keep`: resolved when the stage passed, superseded when it failed again.
 * With `sources` and `reviewer` only what that part of the stage reported: the others have not judged theirs.
 */
export function closeOthers(
  step: Step,
  stage: string,
  how: {
    readonly keep: readonly string[];
    readonly passed: boolean;
    readonly visit: number;
    readonly sources?: readonly FindingSource[];
    readonly reviewer?: string;
    readonly reason?: string;
  },
): void {
  const rest = step.ledger.findings.filter(
    ({ id, source, reviewer }) =>
      !how.keep.includes(id) &&
      (how.sources?.includes(source) ?? true) &&
      (how.reviewer === undefined || how.reviewer === reviewer),
  );
  const part: Ledger = { ...step.ledger, findings: rest };
  const commit = step.state.work?.head ?? null;
  const said = () => {
    const visit = trueVisit(step, { stage, visit: how.visit });
    return { reason: `not reported again by ${stage}, visit ${visit}`, commit };
  };
  const closed: LedgerChange = how.passed
    ? resolveStage(part, { stage, at: step.at, commit })
    : supersedeStage(part, { stages: [stage], at: step.at, ...(how.reason ? { reason: how.reason } : said()) });
  const byId = new Map(closed.ledger.findings.map((finding) => [finding.id, finding]));
  const findings = step.ledger.findings.map((finding) => byId.get(finding.id) ?? finding);
  step.apply({ ledger: { ...step.ledger, findings }, reports: closed.reports });
}

interface NamedCommand {
  readonly name: string;
  readonly command: string;
}

/** A failed command as a finding: what failed, how to run it again, and what it printed. */
export function commandRemark(ended: CommandEnded, command: NamedCommand): Remark {
  const body = `${commandFacts(ended, command).join("\n")}\n\n${ended.tails}`;
  return plainRemark(commandTitle(ended, command), body, command.name);
}

export function commandTitle(ended: CommandEnded, { name }: NamedCommand): string {
  const how = ended.timedOut ? "timed out" : ended.exitCode === null ? "was stopped" : `exit ${ended.exitCode}`;
  const digest = ended.digest.replace(/\s+/g, " ").trim();
  return `${name} failed: ${how}${digest === "" ? "" : `: ${digest}`}`.slice(0, 300);
}

export function commandFacts(ended: CommandEnded, { command }: NamedCommand): string[] {
  return [
    `Exit code: ${ended.exitCode ?? "none"}${ended.timedOut ? " (timed out)" : ""}`,
    `Duration: ${ended.seconds.toFixed(1)} s`,
    `Run again: ${command}`,
    `Full output: ${ended.outputPath}`,
  ];
}

export function plainRemark(title: string, body: string, reviewer: string): Remark {
  return { file: "", line_start: 0, line_end: 0, priority: 1, title, body: { text: body }, reviewer };
}

export function isPass(ended: CommandEnded): boolean {
  return ended.exitCode === 0 && !ended.timedOut && !ended.stopped;
}

export function logAllowed(step: Step, name: string, { digest }: CommandEnded): void {
  step.log("info", `${name} failed, which is allowed: ${digest}`);
}

/** A command judges and changes nothing: what it changed was put back, and that is told. */
export function logDiscarded(step: Step, name: string, { discarded }: CommandEnded): void {
  if (discarded.length === 0) return;
  step.log("warn", `${name} changed files, which were put back: ${discarded.slice(0, 10).join(", ")}`);
}
