import { plainLine } from "../core/plain-text.js";
import type { IssueStatus } from "../core/record.js";
import type { PublicEvent } from "../core/report.js";
import { type Endings, endingsIn, formatCost, formatEndings, formatSeconds, plural, shortSha } from "./format.js";
import { type LackingFacts, lackingLine } from "./lacking.js";
import { errorLines, errorsAfter, nextAfterErrors, type RunError } from "./run-errors.js";
import { shellWord } from "./shell-word.js";

/** What a run came to, folded from its events. */
export interface Summary {
  readonly runId: string | null;
  /** Where it lands. */
  readonly repoPath: string | null;
  readonly target: string | null;
  readonly startedAt: number | null;
  readonly finishedAt: number | null;
  readonly issues: Readonly<Record<string, SummaryIssue>>;
  /** Ids of findings, prefixed by their issue: one that came back counts once. */
  readonly raised: readonly string[];
  readonly closed: Readonly<Record<string, "resolved" | "superseded" | "waived">>;
  /** Why a target could not follow its landed line, by target. */
  readonly behind: Readonly<Record<string, string>>;
  /** How run_end ended, and which other triggers of the run failed. */
  readonly triggers: readonly string[];
  /** Epics whose verification failed last. */
  readonly epics: readonly string[];
  /** Findings of theirs, as in `raised`: they are kept under the epic's id, not the run's. */
  readonly ofEpics: readonly string[];
  /** Of a run that is a workflow: how its stages came out, and itself. */
  readonly workflow: readonly string[];
  /** The last errors the run told of, for one that began nothing or did not end well. */
  readonly errors: readonly RunError[];
  readonly costUsd: number | null;
  readonly status: string;
  readonly exitCode: number | null;
  /** As the run itself has counted its issues, once it has ended. */
  readonly endings: Endings | null;
}
interface SummaryIssue {
  readonly title: string;
  readonly status: IssueStatus | "quarantined";
  readonly message: string;
  readonly error: string | null;
  readonly gateAttempts: number;
  readonly rounds: number;
  readonly commit: string | null;
  readonly target: string | null;
  readonly branch: string | null;
  readonly worktree: string | null;
  readonly dossier: string | null;
}

export const emptySummary: Summary = {
  ...{
    runId: null,
    repoPath: null,
    target: null,
    startedAt: null,
    finishedAt: null,
    costUsd: null,
    status: "running",
    exitCode: null,
    endings: null,
  },
  ...{ issues: {}, raised: [], closed: {}, behind: {}, triggers: [], workflow: [], errors: [] },
  ...{ epics: [], ofEpics: [] },
};

export function foldSummary(summary: Summary, event: PublicEvent): Summary {
  switch (event.type) {
    case "run-started": {
      const where = { repoPath: event.repo_path, target: event.target_branch };
      return { ...summary, ...where, runId: event.run_id, startedAt: Date.parse(event.time) };
    }
    case "run-finished": {
      const [exitCode, endings] = [event.exit_code, endingsIn(event)];
      return { ...summary, status: event.status, exitCode, finishedAt: Date.parse(event.time), endings };
    }
    case "turn-ended": {
      const cost = event.usage?.cost_usd ?? null;
      return cost === null ? summary : { ...summary, costUsd: (summary.costUsd ?? 0) + cost };
    }
    case "finding-raised": {
      if (event.copied) return summary;
      const key = `${event.issue_id}/${event.finding}`;
      const { [key]: _reopened, ...closed } = summary.closed;
      const raised = summary.raised.includes(key) ? summary.raised : [...summary.raised, key];
      const ofEpics = event.stage === "epic_verification" ? [...summary.ofEpics, key] : summary.ofEpics;
      return { ...summary, raised, closed, ofEpics };
    }
    case "finding-resolved":
      if (event.copied) return summary;
      return { ...summary, closed: { ...summary.closed, [`${event.issue_id}/${event.finding}`]: event.status } };
    case "target-followed":
      return { ...summary, behind: behindAfter(summary, event) };
    case "landed":
      return foldIssue({ ...summary, behind: behindAfter(summary, event) }, event);
    case "stage-ended":
    case "workflow-finished":
      return event.issue_id === undefined ? foldWorkflow(summary, event) : summary;
    case "trigger-completed":
      return foldTrigger({ ...summary, epics: epicsAfter(summary, event) }, event);
    case "log":
      return foldTrigger(
        event.level === "error" ? { ...summary, errors: errorsAfter(summary.errors, event) } : summary,
        event,
      );
    default:
      return foldIssue(foldTrigger(summary, event), event);
  }
}

type Told = Extract<PublicEvent, { type: "stage-ended" | "workflow-finished" }>;

function foldWorkflow(summary: Summary, event: Told): Summary {
  const why = event.reason === null ? "" : ` · ${event.reason}`;
  const line =
    event.type === "workflow-finished"
      ? `workflow ${event.name} · ${event.status}${why}`
      : `${event.stage} · ${event.outcome}${event.visit > 1 ? ` · visit ${event.visit}` : ""}${why}`;
  return { ...summary, workflow: [...summary.workflow, line] };
}

function behindAfter(
  { behind }: Summary,
  event: Extract<PublicEvent, { type: "landed" | "target-followed" }>,
): Summary["behind"] {
  const { [event.target_branch]: _old, ...others } = behind;
  return event.behind === null ? others : { ...others, [event.target_branch]: event.behind };
}

function epicsAfter({ epics }: Summary, event: Extract<PublicEvent, { type: "trigger-completed" }>): readonly string[] {
  const { trigger, about, result } = event;
  if (trigger !== "epic_verification") return epics;
  const epic = about.replace(/^epic_id=/, "");
  const others = epics.filter((one) => one !== epic);
  return result === "fail" ? [...others, epic] : others;
}

function foldTrigger(summary: Summary, event: PublicEvent): Summary {
  const line = triggerLine(event);
  return line === null ? summary : { ...summary, triggers: [...summary.triggers, line] };
}

function isFailed(line: string): boolean {
  return / · (fail|timeout)\b/.test(line);
}

function triggerLine(event: PublicEvent): string | null {
  switch (event.type) {
    case "run-end-completed":
      return `${["run_end", event.result, ...(event.reason ? [event.reason] : [])].join(" · ")}${whyOf(event)}`;
    case "run-end-skipped":
      return `run_end · skipped · ${event.reason}`;
    case "trigger-completed":
      return event.result !== "fail" ? null : `${event.trigger} · fail · ${event.about}${whyOf(event)}`;
    case "log": {
      // As an older version told it.
      const [, name, about] = /^\[trigger\] (\w+) completed: (.*), result=fail$/.exec(event.text) ?? [];
      return name === undefined ? null : `${name} · fail · ${about}`;
    }
    default:
      return null;
  }
}

function whyOf({ message }: { readonly message?: string }): string {
  return message === undefined ? "" : `: ${plainLine(message)}`;
}

function foldIssue(summary: Summary, event: PublicEvent): Summary {
  if (event.issue_id === undefined) return summary;
  switch (event.type) {
    case "issue-started":
      return patch(summary, event.issue_id, { title: event.title, status: "running" });
    case "worktree-ready":
      return patch(summary, event.issue_id, { branch: event.branch, worktree: event.path });
    case "escalated":
      return patch(summary, event.issue_id, { dossier: event.dossier });
    case "landed":
      return patch(summary, event.issue_id, { commit: event.commit, target: event.target_branch });
    case "issue-finished":
      return patch(summary, event.issue_id, {
        status: event.quarantined ? "quarantined" : event.status,
        message: event.message,
        error: event.error,
        gateAttempts: event.counters.gate_attempts,
        rounds: event.counters.review_attempts,
        commit: event.commit ?? summary.issues[event.issue_id]?.commit ?? null,
      });
    default:
      return summary;
  }
}

const noIssue: SummaryIssue = {
  ...{ title: "", status: "running", message: "", error: null, gateAttempts: 0, rounds: 0 },
  ...{ commit: null, target: null, branch: null, worktree: null, dossier: null },
};
function patch(summary: Summary, id: string, part: Partial<SummaryIssue>): Summary {
  return { ...summary, issues: { ...summary.issues, [id]: { ...noIssue, ...summary.issues[id], ...part } } };
}

/** By issue, what its target has that it has not. */
type Lacking = Readonly<Record<string, LackingFacts>>;

export function renderSummary(summary: Summary, lacking: Lacking = {}): string[] {
  const issues = Object.entries(summary.issues);
  if (issues.length === 0 && summary.workflow.length > 0) return summary.workflow.map(plainLine);
  if (issues.length === 0 && summary.errors.length > 0) {
    return ["No issue was begun:", ...summary.errors.map(({ text }) => `  ${plainLine(text)}`), ...summary.triggers];
  }
  if (issues.length === 0 && summary.triggers.some(isFailed)) return [...summary.triggers, ...nextSteps(summary)];
  if (issues.length === 0) return ["Nothing to do: no issue was ready."];
  return [
    headLine(summary),
    findingsLine(summary),
    "",
    ...issues.flatMap(([id, issue]) => issueLines(id, issue, lacking[id])),
    ...summary.triggers,
    ...Object.entries(summary.behind).flatMap(([target, why]) => ["", behindLine(target, why)]),
    ...(hasErred(summary) ? errorLines(summary.errors, summary.exitCode) : []),
    ...nextSteps(summary),
  ];
}

/** While it goes on its lines are on the screen, and after a good end nothing is left of them. */
function hasErred(summary: Summary): summary is Summary & { readonly exitCode: number } {
  return summary.exitCode !== null && summary.exitCode !== 0 && summary.errors.length > 0;
}

function headLine(summary: Summary): string {
  const seconds =
    summary.startedAt === null || summary.finishedAt === null ? null : (summary.finishedAt - summary.startedAt) / 1000;
  const counts = formatEndings(summary.endings ?? countEndings(summary));
  return [
    ...(counts === "" ? [] : [counts]),
    ...(seconds === null ? [] : [formatSeconds(seconds)]),
    ...(summary.costUsd === null ? [] : [formatCost(summary.costUsd)]),
    ...(summary.runId === null ? [] : [`run ${summary.runId}`]),
  ].join(" · ");
}

/** While it goes on. */
function countEndings({ issues }: Summary): Endings {
  const all = Object.values(issues);
  const count = (status: IssueStatus): number => all.filter((issue) => issue.status === status).length;
  const [succeeded, interrupted, running] = [count("success"), count("interrupted"), count("running")];
  return { succeeded, ended: all.length - interrupted - running, interrupted, running };
}

function findingsLine(summary: Summary): string {
  const closed = Object.values(summary.closed);
  const count = (status: string): number => closed.filter((one) => one === status).length;
  const open = summary.raised.filter((key) => !(key in summary.closed)).length;
  const others = (["superseded", "waived"] as const).flatMap((status) =>
    count(status) > 0 ? [`${count(status)} ${status}`] : [],
  );
  const parts = [`${count("resolved")} resolved`, ...others, `${open} open`];
  return `${plural(summary.raised.length, "finding")} raised, ${parts.join(", ")}`;
}

function issueLines(id: string, issue: SummaryIssue, lacking: LackingFacts | undefined): string[] {
  const rounds = [
    ...(issue.gateAttempts > 0 ? [`gate ${issue.gateAttempts}×`] : []),
    ...(issue.rounds > 0 ? [plural(issue.rounds, "review round")] : []),
  ].join(", ");
  const head = [plainLine(id), issue.status, rounds, plainLine(issue.title)].filter((part) => part !== "").join(" · ");
  if (issue.status === "success") return [head, `  ${whereIsIt(issue)}`];
  return [head, ...whatWentWrong(issue), ...(lacking ? [`  ${lackingLine(id, lacking)}`] : [])];
}

function whereIsIt(issue: SummaryIssue): string {
  if (issue.commit === null) return plainLine(issue.message) || "nothing had to change";
  const place = issue.target ?? issue.branch;
  return `commit ${shortSha(issue.commit)}${place === null ? "" : ` on ${place}`}`;
}

/** Asked again as it was, the same session leaves the same tree. */
const wayOutOfNoProgress =
  "to go on: change its work, or waive what blocks (ratchet findings waive), and resume; or resume with --fresh for a new session, with --check-only for the checks alone";

const wayOutOfSetup = "to go on: repair what it needs, in the worktree or on your branch, and resume";

function whatWentWrong({ message, error, branch, worktree, dossier }: SummaryIssue): string[] {
  const place = worktree ?? "its worktree";
  // There may be no work in it yet.
  const work =
    error === "setup_failed" ? `its worktree is ${place}, on ${branch}` : `its work is on ${branch}, in ${place}`;
  return [
    ...(message === "" ? [] : [`  ${plainLine(message)}`]),
    ...(error === "no_progress" ? [`  ${wayOutOfNoProgress}`] : []),
    ...(error === "setup_failed" ? [`  ${wayOutOfSetup}`] : []),
    ...(branch === null ? [] : [`  ${work}`]),
    ...(dossier === null ? [] : [`  dossier: ${dossier}`]),
  ];
}

function behindLine(target: string, why: string): string {
  const text = plainLine(why);
  return text.startsWith(`${target} `) ? text : `${target} is behind: ${text}`;
}

/** Commands for what did not succeed, ready to be copied. */
function nextSteps(summary: Summary): string[] {
  const lost = Object.entries(summary.issues).filter(([, issue]) => issue.status !== "success");
  const ofRun = nextOfRun(summary);
  const retell = hasErred(summary) ? [nextAfterErrors(summary.errors)] : [];
  const without = [...retell, ...ofRun];
  if (lost.length === 0) return without.length === 0 ? [] : ["", "What next:", ...without];
  const looks = lost.map(([id, issue]) => {
    const why = issue.status === "running" || issue.status === "interrupted" ? "is unfinished" : `is ${issue.status}`;
    const [command, what] = hasOpen(summary, id) ? ["findings", "what is still open"] : ["explain", "what can be done"];
    return `  ratchet ${command} ${shellWord(id)}   # ${plainLine(id)} ${why}: ${what}`;
  });
  // What still runs goes on by itself, or with whoever takes its run up.
  const isLeft = lost.some(([, { status }]) => !["running", "escalated", "quarantined"].includes(status));
  const goOn = isLeft ? ["  ratchet run --resume   # go on with these first"] : retell;
  return ["", "What next:", ...looks, ...goOn, ...ofRun];
}

/** Of what the run's own triggers found, and of epics. */
function nextOfRun(summary: Summary): string[] {
  const { runId, raised, ofEpics, epics, triggers } = summary;
  const hasFound = hasOpen({ ...summary, raised: raised.filter((key) => !ofEpics.includes(key)) }, undefined);
  const hasFailed = triggers.some((line) => isFailed(line) && !line.startsWith("epic_verification"));
  const look = hasFound ? "findings" : "logs show";
  return [
    ...(runId !== null && (hasFound || hasFailed) ? [`  ratchet ${look} ${runId}   # the run's own checks`] : []),
    ...epics.map((id) => `  ratchet explain ${shellWord(id)}   # ${plainLine(id)} is not completed: what can be done`),
  ];
}

/** Without an issue: of the run itself. */
function hasOpen({ raised, closed }: Summary, issueId: string | undefined): boolean {
  return raised.some((key) => key.startsWith(`${issueId}/`) && !(key in closed));
}
