import type { App, Store } from "../app.js";
import { lastReviewRound } from "../core/issue/policy.js";
import type { IssueState } from "../core/issue/state.js";
import type { IssueRecord } from "../core/record.js";
import type { RunState } from "../core/run/state.js";
import { answerCommand } from "../views/question-lines.js";
import type { IssueSituation, RunSituation } from "../views/status.js";
import { commandWaits } from "./command-waits.js";
import { ordersOf, unheardBy } from "./orders.js";

type StoredRun = Awaited<ReturnType<Store["run"]>>;
type Machine = Awaited<ReturnType<Store["issueStates"]>>[number];

/** A run as the store knows it now: its machines say where they are, its records what they came to. */
export async function situationOf(app: App, run: StoredRun, driven = true): Promise<RunSituation> {
  const store = await app.store("reader");
  const [state, machines, records] = await Promise.all([
    app.runState(run.runId),
    store.issueStates(run.runId),
    store.issueRecords(run.runId),
  ]);
  const orders = await ordersOf(app, run.runId);
  const asked = await questionsOf(app, run);
  const commands = commandWaits(app, run, machines);
  // A later life of an issue takes its place.
  const byIssue = new Map(machines.map((machine) => [stateOf(machine).issueId, machine]));
  const recorded = new Map(records.map(({ issueId, record }) => [issueId, record]));
  const claimed = [...byIssue].flatMap(([issueId, machine]) => (isClaiming(machine) ? [issueId] : []));
  const issues = [...new Set([...recorded.keys(), ...claimed])].map(async (issueId) => {
    const open = await store.findings({ projectId: run.projectId, issueId, all: false });
    const priorities = open.map(({ priority }) => priority);
    const machine = byIssue.get(issueId);
    const facts = factsOf(recorded.get(issueId), machine, run);
    const answer = answerWait(asked.filter(({ question }) => question.issueId === issueId));
    const command = machine === undefined ? null : (commands.get(machine) ?? null);
    const stop = driven || machine === undefined || machine.done ? null : await stopWait(store, machine);
    const waitingFor = stop ?? facts.waitingFor ?? answer ?? command;
    return { ...facts, waitingFor, issueId, openFindings: priorities };
  });
  return {
    runId: run.runId,
    projectId: run.projectId,
    status: run.status,
    ...orders,
    aborting: state?.aborting ?? false,
    driven,
    ...(run.options.workflow === undefined ? {} : { workflowFile: run.options.workflow.file }),
    issues: [
      ...(await Promise.all(issues)),
      ...(await triggerRow(store, run, { state, machines, commands })),
      ...(await workflowRow(store, run, asked)),
    ],
  };
}

/** It was told to end by its name after its process had gone. */
async function stopWait(store: Store, { id }: Machine): Promise<string | null> {
  const orders = await unheardBy(store, id);
  const [word] = orders.includes("stop") ? ["stopping"] : orders.map(() => "draining");
  return word === undefined ? null : `its run to be taken up: then it will be ${word}`;
}

type Asked = Awaited<ReturnType<App["questions"]>>[number];

/** Only where a workflow can ask: nobody else's files are looked for. */
export async function questionsOf(app: App, { runId, settings, options }: StoredRun): Promise<Asked[]> {
  if (settings.agent.workflow === null && options.workflow === undefined) return [];
  return [...(await app.questions(runId))];
}

function answerWait(asked: readonly Asked[]): string | null {
  const waits = asked.map(({ question, answered }) =>
    answered === null
      ? `an answer to ${question.stage}: ${answerCommand(question)}`
      : `somebody to go on with it: ${question.stage} is answered (${answered})`,
  );
  return waits.join(", ") || null;
}

interface RunParts {
  readonly state: RunState | null;
  readonly machines: readonly Machine[];
  /** What waits for its command's place or turn. */
  readonly commands: ReadonlyMap<Machine, string>;
}

/** The trigger of the run that goes on now; its findings are the run's, or its epic's. */
async function triggerRow(
  store: Store,
  run: StoredRun,
  { state, machines, commands }: RunParts,
): Promise<IssueSituation[]> {
  const { projectId, runId } = run;
  const running = state?.triggers?.running ?? null;
  const isIt = (life: IssueState) => life.issueId === "" && life.life === running?.number;
  const machine = machines.find((one) => isIt(stateOf(one)));
  if (running === null || machine === undefined || state === null) return [];
  const life = stateOf(machine);
  const open = await store.findings({ projectId, issueId: running.epic?.id ?? runId, all: false });
  return [
    {
      issueId: "_run",
      trigger: running.name,
      phase: life.phase,
      status: "running",
      ...attemptOf(life, run),
      openFindings: open.map(({ priority }) => priority),
      sessionId: life.session,
      startedAt: life.startedAt,
      finishedAt: null,
      costUsd: life.usage.usd === 0 ? null : life.usage.usd,
      waitingFor: waitOf(machine) ?? commands.get(machine) ?? null,
    },
  ];
}

/** What of a workflow's state is told here. */
interface Stages {
  readonly startedAt: number;
  readonly usage: { readonly usd: number };
  readonly tokens: readonly { readonly stage: string; readonly phase: string; readonly attempt: number }[];
}

/** A run that is a workflow has one row: the stages it is at. */
async function workflowRow(
  store: Store,
  { runId, projectId, options }: StoredRun,
  asked: readonly Asked[],
): Promise<IssueSituation[]> {
  if (options.workflow === undefined) return [];
  const machine = (await store.machines(runId)).findLast(({ kind }) => kind === "run");
  if (machine === undefined) return [];
  const { tokens, startedAt, usage } = machine.state as Stages;
  const open = await store.findings({ projectId, issueId: runId, all: false });
  const waits = tokens.filter(({ phase }) => phase === "asking").map(({ stage }) => `an answer to ${stage}`);
  return [
    {
      issueId: "_run",
      trigger: options.workflow.name,
      phase: tokens.map(({ stage }) => stage).join(", ") || "ending",
      status: "running",
      attempt: tokens[0]?.attempt ?? 0,
      maxAttempts: 0,
      openFindings: open.map(({ priority }) => priority),
      sessionId: null,
      startedAt,
      finishedAt: null,
      costUsd: usage.usd === 0 ? null : usage.usd,
      waitingFor: answerWait(asked) ?? (waits.join(", ") || null),
    },
  ];
}

function stateOf(machine: Machine): IssueState {
  return machine.state as IssueState;
}

/** It has no record yet, or an earlier life's; one that nobody drives has claimed nothing that is known. */
function isClaiming(machine: Machine): boolean {
  const { phase, issueId } = stateOf(machine);
  return phase === "claiming" && issueId !== "" && !machine.done && machine.driverAlive;
}

function factsOf(
  record: IssueRecord | undefined,
  machine: Machine | undefined,
  run: StoredRun,
): Omit<IssueSituation, "issueId" | "openFindings"> {
  const state = machine === undefined ? null : stateOf(machine);
  const told = machine !== undefined && isClaiming(machine) ? undefined : record;
  const status = told?.status ?? "running";
  return {
    phase: state?.phase ?? "preparing",
    status,
    ...attemptOf(state, run),
    sessionId: state?.session ?? record?.session_id ?? null,
    startedAt: told === undefined ? (state?.startedAt ?? 0) : Date.parse(told.started_at),
    finishedAt: told?.finished_at == null ? null : Date.parse(told.finished_at),
    costUsd: record?.usage.cost_usd ?? null,
    waitingFor: machine === undefined || status !== "running" ? null : waitOf(machine),
  };
}

/** The number of the check that judges now, or will judge the turn that runs. */
function attemptOf(state: IssueState | null, run: StoredRun): { attempt: number; maxAttempts: number } {
  if (state === null) return { attempt: 0, maxAttempts: 0 };
  switch (state.phase) {
    case "gating":
      return { attempt: state.gate.failures + 1, maxAttempts: Math.max(1, run.settings.max_gate_retries) };
    case "reviewing":
      return { attempt: state.review.round, maxAttempts: lastReviewRound(run, state.review) };
    default:
      return { attempt: state.turn?.attempt ?? 0, maxAttempts: state.turn?.maxAttempts ?? 0 };
  }
}

/** Landing waits for a person: what they have to do. It is tried again all the time, which is no news. */
export function landingWait({ state }: Machine): string | null {
  const { phase, landing } = state as IssueState;
  return phase === "finalizing" && landing.waiting ? landing.waiting : null;
}

/** The tracker has been asked something, and takes long. */
export function trackerWait(machine: Machine): string | null {
  const { slow } = stateOf(machine);
  return slow && machine.owed.some((value) => isEffect(value) && value.key === slow.key) ? slow.for : null;
}

/** Nothing but a timer is owed: that is what it waits for. */
function waitOf(machine: Machine): string | null {
  const wait = landingWait(machine) ?? trackerWait(machine);
  if (wait !== null) return wait;
  const effects = machine.owed.filter(isEffect);
  const timer = effects.find(({ kind }) => kind === "timer");
  if (timer === undefined || effects.some(({ kind }) => kind !== "timer" && kind !== "wait")) return null;
  const why = timer.key?.startsWith("timer:limit:") ? "usage limit" : "back-off";
  return typeof timer.until === "number" ? `${new Date(timer.until).toISOString()} (${why})` : why;
}

function isEffect(value: unknown): value is { readonly kind: string; readonly key?: string; readonly until?: unknown } {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}
