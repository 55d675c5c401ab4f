import type { OnBranch } from "../core/not-ready.js";
import { plainLine } from "../core/plain-text.js";
import type { ItemStatus, Scope, Standing } from "../core/ports/tracker.js";
import { causeOfEpic, causeOfUnmerged, type EpicFacts } from "./explain-epic.js";
import type { Cause, Explanation } from "./explanation.js";
import { type ForeignTracker, foreignHint, foreignName } from "./foreign-tracker.js";
import { formatAttempt, plural, shortSha } from "./format.js";
import { type LackingFacts, lackingLine } from "./lacking.js";
import { listOf, type Neighbour } from "./neighbours.js";
import type { PullRequestWait } from "./pull-request-wait.js";
import { isInScope } from "./scope.js";
import { shellWord } from "./shell-word.js";

export type { Explanation } from "./explanation.js";

/** What there is to know about one issue. Times in ms since the epoch. */
export interface IssueFacts {
  readonly issueId: string;
  readonly type: "task" | "epic";
  readonly status: ItemStatus;
  readonly claimedBy: string | null;
  /** Of a claim by hand; null: a run's. */
  readonly leaseUntil: number | null;
  readonly failureCount: number;
  readonly failureReason: string | null;
  /** Its parent, the parent's parent, and so on. */
  readonly ancestors: readonly string[];
  readonly deps: readonly Neighbour[];
  readonly children: readonly Neighbour[];
  /** An earlier run was stopped in the middle of it: this one. */
  readonly stoppedIn: string | null;
  /** Its life in a run that has not ended. */
  readonly life: LifeFacts | null;
  /** The project's runs that have not ended. */
  readonly runs: readonly RunFacts[];
  /** How many ready issues come first. */
  readonly ahead: number;
  /** Where it is, when not on our own board. */
  readonly tracker?: ForeignTracker | null;
  /** What is known there besides. */
  readonly standing?: Standing | null;
  /** The pull request that it is in, or an item of. */
  readonly pullRequest?: PullRequestFacts | null;
  /** How a run ended it, while the tracker has not been told; null: it knows all. */
  readonly untold?: UntoldFacts | null;
  /** Of an epic. */
  readonly epic?: EpicFacts | null;
  /** What it depends on, of an epic also its issues, that is completed, and on a branch of its own instead of the target. */
  readonly unmerged?: readonly OnBranch[];
  /** Where it failed: what its target has by now, and its work has not. */
  readonly lacking?: LackingFacts | null;
}
export interface UntoldFacts {
  readonly runId: string;
  /** What the tracker would say. */
  readonly ending: "completed" | "failed" | "escalated" | "free" | "in a pull request";
  /** Where it has landed. */
  readonly commit: string | null;
}
export interface PullRequestFacts {
  readonly number: number;
  readonly url: string;
  /** The issue whose work it is. */
  readonly issueId: string;
  /** Why a person has to decide; null: nobody has to. */
  readonly needsPerson: string | null;
  /** What it waits for; null: for people or the forge, as far as is known. */
  readonly wait?: PullRequestWait | null;
}
export interface LifeFacts {
  readonly runId: string;
  readonly driverAlive: boolean;
  readonly phase: string;
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The commit, once it has landed. */
  readonly landed?: string | null;
  /** It has been told to end, and is landing, which goes on. */
  readonly landing?: boolean;
  /** It has been told to stop, and has not come to its end yet. */
  readonly stopping?: boolean;
  /** `for`: what a person has to see to, and `next` by which command. */
  readonly waiting: null | "slot" | { readonly until: number } | { readonly for: string; readonly next?: string };
}
export interface RunFacts {
  readonly runId: string;
  readonly driverAlive: boolean;
  readonly scope: Scope;
  /** It takes failed issues too. */
  readonly resume: boolean;
  /** It was told to end: nothing new is taken. */
  readonly ending: boolean;
  /** It has taken as many issues as it may. */
  readonly full: boolean;
  /** How many more it may take; null: any number. */
  readonly remaining?: number | null;
  /** It has had this issue, which nothing has put back into the queue since. */
  readonly hadIt: boolean;
  /** The issue is a follow-up of one that it has had. */
  readonly madeIt?: boolean;
  /** Somebody has stopped the issue, in whatever run, since this one began, and nobody has said retry. */
  readonly stopped?: boolean;
  /** The other run in which it came to its last end since this one began; null: none. */
  readonly endedIn?: string | null;
  readonly maxAgents: number;
  /** It has begun as many issues as may be unfinished at once: how many. */
  readonly unfinishedMost?: number | null;
}

/** The one reason why an issue is running or is not: the first that holds, from the nearest to the farthest. */
export function explain(facts: IssueFacts): Explanation {
  const cause = facts.life === null ? causeOf(facts) : causeOfLife(facts.life, facts.status === "completed");
  const { running = false, reason, blockers = [], next } = cause;
  const { issueId, lacking = null } = facts;
  const meanwhile = lacking && !running ? { meanwhile: lackingLine(issueId, lacking) } : {};
  return { issue_id: issueId, state: facts.status, running, reason, blockers, ...meanwhile, next };
}

export function renderExplanation({ issue_id, running, reason, meanwhile, next }: Explanation): string[] {
  const line = `${issue_id} is ${running ? "" : "not "}running: ${reason}`;
  return [
    plainLine(line),
    ...(meanwhile === undefined ? [] : [meanwhile]),
    ...(next === null ? [] : [`next: ${next}`]),
  ];
}

export function causeOfLife({ runId, driverAlive, phase, waiting, ...tries }: LifeFacts, isTold: boolean): Cause {
  const attempt = tries.attempt > 0 ? `, attempt ${formatAttempt(tries.attempt, tries.maxAttempts)}` : "";
  const landed = tries.landed && !isTold ? `, landed as ${shortSha(tries.landed)}, the tracker is not told yet` : "";
  const where = `${phase}${attempt}${landed}`;
  if (!driverAlive) {
    const then = tries.stopping ? "; it is stopped when that run is taken up again" : "";
    return { reason: `the process of run ${runId}, which has it (${where}), is gone${then}`, next: "ratchet run" };
  }
  if (tries.landing) {
    const reason = `run ${runId} is landing it (${where}), which goes on although it was told to end`;
    return { running: true, reason, next: null };
  }
  if (tries.stopping) return { running: true, reason: `run ${runId} is still stopping it (${where})`, next: null };
  if (waiting === null) {
    return { running: true, reason: `run ${runId} is at work on it: ${where}`, next: null };
  }
  const next = "ratchet status";
  const held = phase === "claiming" ? `run ${runId} is claiming it` : `claimed by run ${runId} (${where})`;
  if (waiting === "slot") return { reason: `${held}, waiting for a slot`, next };
  if ("for" in waiting) return { reason: `${held}, waiting: ${waiting.for}`, next: waiting.next ?? next };
  return { reason: `${held}, waiting until ${timeOf(waiting.until)}`, next };
}

const nothingOfEpic: EpicFacts = { verifier: null, inVain: 0, openFindings: 0, looker: null };

function causeOf(facts: IssueFacts): Cause {
  const { issueId, status } = facts;
  if (status === "completed") return { reason: "completed", next: null };
  if (facts.type === "epic" && status !== "blocked") return causeOfEpic(facts, facts.epic ?? nothingOfEpic);
  const { tracker = null, untold = null } = facts;
  if (untold !== null) return causeOfUntold(untold, tracker);
  const retry = tracker === null ? `ratchet retry ${shellWord(issueId)}` : foreignHint(tracker, "retry", issueId);
  const unblock =
    tracker === null ? `ratchet work unblock ${shellWord(issueId)}` : foreignHint(tracker, "unblock", issueId);
  switch (status) {
    case "claimed":
      // A tracker of others has no word for it: there it stays claimed until the pull request has come to its end.
      return facts.pullRequest ? causeOfPullRequest(facts.pullRequest) : causeOfClaim(facts);
    case "blocked":
      return { reason: `blocked by an operator${because(facts)}`, next: unblock };
    case "quarantined":
      return { reason: `quarantined after ${plural(facts.failureCount, "failure")}${because(facts)}`, next: retry };
    case "waiting_for_response":
      if (facts.pullRequest) return causeOfPullRequest(facts.pullRequest);
      return { reason: `escalated, a person has to decide${because(facts)}`, next: retry };
    case "failed":
    case "available":
      return causeOfWaiting(facts);
  }
}

/** It is over, whatever the tracker says: the next run tells it before it takes anything. */
function causeOfUntold({ runId, ending, commit }: UntoldFacts, tracker: ForeignTracker | null): Cause {
  const how = commit === null ? `came out ${ending} in` : `has landed as ${shortSha(commit)} in`;
  const who = tracker === null ? "the board" : foreignName(tracker);
  return { reason: `it ${how} run ${runId}, which ${who} has not been told yet`, next: "ratchet run" };
}

function because({ failureReason }: IssueFacts): string {
  return failureReason === null || failureReason === "" ? "" : `: ${failureReason}`;
}

function causeOfPullRequest({ number, url, issueId, needsPerson, wait = null }: PullRequestFacts): Cause {
  if (needsPerson === null) {
    const why = wait === null ? "" : `: ${wait.reason}`;
    return {
      reason: `waits for pull request #${number} (${url})${why}`,
      next: wait?.next ?? `ratchet pr sync ${number}`,
    };
  }
  return {
    reason: `needs a person: ${needsPerson} (pull request #${number}, ${url})`,
    next: `ratchet retry ${shellWord(issueId)}`,
  };
}

function causeOfClaim({ issueId, claimedBy, leaseUntil, runs, stoppedIn, standing = null }: IssueFacts): Cause {
  if (standing?.obstacle) return standing.obstacle;
  if (leaseUntil !== null) {
    const reason = `claimed by hand, by ${claimedBy ?? "somebody"}, until ${timeOf(leaseUntil)}`;
    return { reason, next: `ratchet work release ${shellWord(issueId)}` };
  }
  const run = runs.find(({ runId }) => runId === claimedBy);
  if (run?.driverAlive) return { running: true, reason: `run ${run.runId} has just claimed it`, next: null };
  if (run) return { reason: `the process of run ${run.runId}, which has claimed it, is gone`, next: "ratchet run" };
  const isOver = standing?.claim?.isOver ?? false;
  if (stoppedIn !== null && (claimedBy === null || isOver)) {
    const reason = `claimed in the tracker, and run ${stoppedIn} ended in the middle of it`;
    return { reason, next: `ratchet run --resume ${shellWord(issueId)}` };
  }
  if (claimedBy === null) return { reason: "claimed by somebody in the tracker", next: null };
  if (standing?.claim && !isOver)
    return { reason: `claimed by ${claimedBy}, which is none of this machine's`, next: null };
  // Of other trackers only a resume takes claims over.
  const next = isOver ? `ratchet run --resume ${shellWord(issueId)}` : `ratchet run ${shellWord(issueId)}`;
  return { reason: `claimed by ${claimedBy}, which is not at work any more`, next };
}

function causeOfWaiting(facts: IssueFacts): Cause {
  if (facts.standing?.obstacle) return facts.standing.obstacle;
  const open = facts.deps.filter(({ status }) => status !== "completed");
  const [first] = open;
  if (first !== undefined) {
    const blockers = open.map(({ id }) => id);
    const failed = facts.status === "failed" ? `failed${because(facts)}; ` : "";
    return { reason: `${failed}blocked by ${listOf(open)}`, blockers, next: `ratchet explain ${shellWord(first.id)}` };
  }
  const { unmerged = [] } = facts;
  if (unmerged.length > 0) return causeOfUnmerged(unmerged);
  const living = facts.runs.filter(({ driverAlive }) => driverAlive);
  const refusals = living.map((run) => ({ run, why: whyNotBy(run, facts) }));
  const taker = refusals.find(({ why }) => why === null)?.run;
  if (taker) return causeOfQueue(taker, facts);
  const others = refusals.map(({ run, why }) => `; run ${run.runId} does not take it: ${why}`).join("");
  return facts.status === "failed" ? causeOfFailure(facts, others) : causeOfIdleness(facts, others);
}

function causeOfQueue({ runId, maxAgents, unfinishedMost = null }: RunFacts, { ahead }: IssueFacts): Cause {
  const places = `${maxAgents} agent${maxAgents === 1 ? "" : "s"} at a time`;
  const before = ahead === 0 ? "it is next" : `${ahead} before it`;
  const next = "ratchet status";
  if (unfinishedMost !== null) {
    const why = `waiting until one of the ${unfinishedMost} issues that run ${runId} has begun has ended (${before})`;
    return { reason: `ready, ${why}`, next };
  }
  return { reason: `ready, waiting for a slot in run ${runId} (${places}, ${before})`, next };
}

function causeOfFailure(facts: IssueFacts, others: string): Cause {
  const count = facts.failureCount > 1 ? ` ${facts.failureCount} times` : "";
  return {
    reason: `failed${count}${because(facts)}${others}`,
    next: retryFor(facts) ?? `ratchet run --resume ${shellWord(facts.issueId)}`,
  };
}

function causeOfIdleness(facts: IssueFacts, others: string): Cause {
  const { issueId, stoppedIn, runs } = facts;
  const dead = runs.find(({ driverAlive }) => !driverAlive);
  const nothing = others === "" ? ", but nothing runs" : others;
  if (stoppedIn !== null) {
    const next = retryFor(facts) ?? `ratchet run --resume ${shellWord(issueId)}`;
    return { reason: `stopped in run ${stoppedIn}${nothing}`, next };
  }
  if (others === "" && dead)
    return { reason: `ready, but the process of run ${dead.runId} is gone`, next: "ratchet run" };
  const next = others === "" ? "ratchet run" : (retryFor(facts) ?? `ratchet run ${shellWord(issueId)}`);
  return { reason: `ready${nothing}`, next };
}

/** What has a living run take it again; null: none would, or it is for another tracker to say. */
function retryFor(facts: IssueFacts): string | null {
  if (facts.tracker) return null;
  const living = facts.runs.filter(({ driverAlive }) => driverAlive);
  const asNew = living.map((run) =>
    whyNotBy({ ...run, hadIt: false, stopped: false, endedIn: null, resume: true }, facts),
  );
  return asNew.includes(null) ? `ratchet retry ${shellWord(facts.issueId)}` : null;
}

/** null: it takes it as soon as it can. */
function whyNotBy(run: RunFacts, { issueId, status, ancestors, ahead }: IssueFacts): string | null {
  if (run.ending) return "it is coming to its end";
  if (run.stopped) return "it was stopped by its name while that run lived";
  if (run.hadIt) return "it has had it already";
  if (run.madeIt) return "it is a follow-up of one that it has had";
  if (run.full) return "it has taken as many issues as it may";
  if (!isInScope(run.scope, issueId, ancestors)) return "it was started for other issues";
  const { remaining = null, scope } = run;
  // How many come first is known of all that are ready, not of a part.
  if (remaining !== null && scope.type === "all" && ahead >= remaining) {
    return `it takes ${plural(remaining, "more issue")}, and ${ahead} come first`;
  }
  if (status !== "failed") return null;
  if (!run.resume) return "it was started without --resume";
  return run.endedIn ? `it failed in run ${run.endedIn} while that one lived` : null;
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
