import type { App, Store } from "../app.js";
import type { IssueState } from "../core/issue/state.js";
import { findProgram } from "../lib/process/find.js";
import type { LifeFacts } from "../views/explain.js";
import { answerCommand } from "../views/question-lines.js";
import { toStatus } from "../views/status.js";
import { commandWaits } from "./command-waits.js";
import { unheardBy } from "./orders.js";
import { landingWait, questionsOf, situationOf, trackerWait } from "./situation.js";

type Machine = Awaited<ReturnType<Store["issueStates"]>>[number];
type StoredRun = Awaited<ReturnType<Store["run"]>>;

/** The issue's life in a run that has not ended: where it is, and what it waits for. null: there is none. */
export async function findLife(app: App, projectId: string, issueId: string): Promise<LifeFacts | null> {
  const store = await app.store("reader");
  for (const { run } of await store.unfinishedRuns(projectId)) {
    const machines = await store.issueStates(run.runId);
    const machine = machines.find((one) => !one.done && issueOf(one) === issueId);
    if (machine === undefined) continue;
    const [seen] = toStatus([await situationOf(app, run)], 0).runs;
    const issue = seen?.issues.find((one) => one.issue_id === issueId);
    if (issue === undefined) continue;
    const { phase, attempt, max_attempts: maxAttempts } = issue;
    const waiting = (await gateWait(app, run, issueId)) ?? waitOf(app, { run, machine, machines });
    const landed = (await store.issueRecord(run.runId, issueId))?.record.commit ?? null;
    const landing = isLandingOn(machine);
    const stopping = !landing && (isStopping(machine) || (await unheardBy(store, machine.id)).includes("stop"));
    return {
      runId: run.runId,
      driverAlive: machine.driverAlive,
      phase,
      attempt,
      maxAttempts,
      landed,
      landing,
      stopping,
      waiting,
    };
  }
  return null;
}

function isStopping({ state }: Machine): boolean {
  const { halt, ending } = state as IssueState;
  return halt !== null && ending?.status !== "success";
}

/** It was told to end and goes on all the same: after an abort with its landing, after a stop with the last step of it. */
function isLandingOn(machine: Machine): boolean {
  const { phase, halt, hurry } = machine.state as IssueState;
  const owed = effectsOf(machine);
  if (halt === null || phase !== "finalizing") return false;
  if (owed.some(({ kind, op }) => kind === "land" && op === "commit")) return true;
  return halt === "abort" && !hurry && !owed.some(({ kind }) => kind === "timer");
}

/** Its workflow has asked a person. */
async function gateWait(app: App, run: StoredRun, issueId: string): Promise<LifeFacts["waiting"]> {
  const questions = await questionsOf(app, run);
  const asked = questions.find(({ question, answered }) => question.issueId === issueId && answered === null)?.question;
  if (asked === undefined) return null;
  const prompt = asked.prompt.length > 200 ? `${asked.prompt.slice(0, 200)}…` : asked.prompt;
  return { for: `${asked.stage} asks: ${prompt}`, next: answerCommand(asked) };
}

interface Effect {
  readonly kind: string;
  readonly folder?: unknown;
  readonly op?: unknown;
  readonly stage?: unknown;
  readonly until?: unknown;
}

function waitOf(
  app: App,
  at: { readonly run: StoredRun; readonly machine: Machine; readonly machines: readonly Machine[] },
): LifeFacts["waiting"] {
  const landing = landingWait(at.machine);
  if (landing !== null) return { for: landing, ...nextOf(landing) };
  const asked = trackerWait(at.machine);
  if (asked !== null) return { for: asked };
  const lander = landsFirst(at);
  if (lander !== null) return { for: `${lander} is landing, one issue at a time` };
  const command = commandWaits(app, at.run, at.machines).get(at.machine);
  if (command !== undefined) return { for: command };
  const owed = effectsOf(at.machine).filter(({ kind }) => kind !== "wait");
  const timer = owed.find(({ kind }) => kind === "timer");
  if (timer !== undefined && owed.every(({ kind }) => kind === "timer")) {
    return typeof timer.until === "number" ? { until: timer.until } : null;
  }
  const busy = owed.filter(({ kind }) => kind !== "timer");
  const isWaiting = busy.length > 0 && busy.every(({ kind }) => kind === "turn");
  if (!isWaiting || runningTurns(app, at.run, [at.machine]) > 0) return null;
  // Between its turn coming up and its program starting there is a moment in which it waits for nobody.
  return runningTurns(app, at.run, at.machines) >= at.run.settings.max_agents ? "slot" : null;
}

/** Who has proposed and is gated or put on the line holds the landing; who only wants to propose waits for them. */
function landsFirst({ machine, machines }: { readonly machine: Machine; readonly machines: readonly Machine[] }) {
  const wants = effectsOf(machine).some(({ kind, op }) => kind === "land" && op === "propose");
  if (!wants) return null;
  const holder = machines.find((one) => !one.done && one !== machine && effectsOf(one).some(isLanding));
  return holder === undefined ? null : issueOf(holder) || "a trigger of the run";
}

function isLanding({ kind, op, stage }: Effect): boolean {
  return (kind === "land" && op === "commit") || (kind === "command" && stage === "landing");
}

/** What a landing waits for names the command that ends the wait. */
function nextOf(landing: string): { readonly next?: string } {
  const command = /`(git [^`]+)`/.exec(landing)?.[1];
  return command === undefined ? {} : { next: command };
}

function runningTurns(app: App, run: StoredRun, machines: readonly Machine[]): number {
  const folders = machines.flatMap((machine) =>
    effectsOf(machine).flatMap(({ kind, folder }) =>
      kind === "turn" && typeof folder === "string"
        ? [app.home.attempt(run.runId, issueOf(machine) || null, folder)]
        : [],
    ),
  );
  return folders.filter((folder) => findProgram(folder).state === "running").length;
}

function effectsOf({ owed }: Machine): Effect[] {
  return owed.filter((value): value is Effect => typeof value === "object" && value !== null && "kind" in value);
}

function issueOf({ state }: Machine): string {
  return typeof state === "object" && state !== null && "issueId" in state ? String(state.issueId) : "";
}
