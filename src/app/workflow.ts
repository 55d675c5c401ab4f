import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { gateAnswerOf } from "../core/gate-answer.js";
import type { Agent } from "../core/ports/agent.js";
import type { Asker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import { systemClock } from "../lib/clock.js";
import { Refusal, UserError } from "../lib/errors.js";
import type { Home } from "../lib/home.js";
import type { IssueWorkflow } from "../run/context.js";
import type { Answer, Checkout, Question, WorkflowRun } from "../run/workflow/context.js";
import {
  findWorkflow,
  listWorkflows,
  type NamedWorkflow,
  type WorkflowPlace,
  workflowFolders,
} from "../run/workflow/find.js";
import { type LoadedWorkflow, loadWorkflow, type WorkflowSource } from "../run/workflow/load.js";
import type { StartedWorkflow, WorkflowParts } from "../run/workflow/start.js";
import type { Store, StoredRun } from "../store/store.js";
import { version } from "../version.js";
import type { Graph, ModelChoice } from "../workflow/graph.js";
import type { WorkflowState } from "../workflow/machine/state.js";
import { inboxOf } from "./inbox.js";
import { packageRoot } from "./package-root.js";

/** What to run: a workflow anew, or a run of one that goes on, with the file as it is now. */
export interface WorkflowRequest {
  readonly source: WorkflowSource;
  /** Of the source, without errors. */
  readonly graph: Graph;
  /** null: the file's own. */
  readonly goal: string | null;
  /** Goes on with this run. */
  readonly runId: string | null;
  readonly ask: (question: Question, signal: AbortSignal) => Promise<Answer | null>;
  /** May leave before the run has begun. */
  readonly asker?: Asker;
}

/** What of the program this needs. */
interface Around {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly store: () => Promise<Store>;
  readonly warn: (text: string) => void;
  /** Tools, humans and decisions need no configuration; an agent does. Of the current directory, or of a folder. */
  readonly settings: (folder?: string) => Promise<Configured>;
}
export interface Configured {
  readonly settings: Settings;
  /** false: nobody has said which agent. */
  readonly configured: boolean;
}

/** The workflows of the current directory. */
export interface Workflows {
  /** null: there is none of that name. */
  find(what: string): string | null;
  list(): NamedWorkflow[];
  /** Where names are looked up, nearest first. */
  folders(): string[];
  load(file: string): Promise<LoadedWorkflow>;
}

export async function openWorkflows(app: Pick<Around, "cwd" | "home">): Promise<Workflows> {
  const place = placeOf(app);
  return {
    find: (what) => findWorkflow(place, what),
    list: () => listWorkflows(place),
    folders: () => workflowFolders(place),
    load: (file) => loadWorkflow(file, place),
  };
}

function placeOf({ cwd, home }: Pick<Around, "cwd" | "home">): WorkflowPlace {
  return { cwd, root: rootOf(cwd), home: home.root, shipped: join(packageRoot(), "workflows") };
}

/** The top of the checkout around a folder, found without starting git. */
export function rootOf(cwd: string): string | null {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (folder === dirname(folder)) return null;
  }
}

export async function openWorkflow(app: Around, request: WorkflowRequest): Promise<StartedWorkflow> {
  const { startWorkflow } = await import("../run/workflow/start.js");
  return await startWorkflow(await workflowParts(app, request));
}

/** Throws UserError where an agent that a stage needs is missing. */
export async function checkWorkflow(app: Around, source: WorkflowSource): Promise<void> {
  const { checkStages } = await import("../run/workflow/start.js");
  const { graphOf } = await import("../run/workflow/drive.js");
  const agent = stageAgents(await app.settings(), app.env);
  await checkStages({ agent, repoPath: rootOf(app.cwd) ?? app.cwd }, source, await graphOf(source, null));
}

interface IssuesFrame {
  readonly runId: string;
  readonly projectId: string;
  readonly repoPath: string;
  readonly settings: Settings;
  /** The run goes on with what it was started with. */
  readonly unfinished: boolean;
  /** No agent will start. */
  readonly idle: boolean;
  /** May leave before the run has begun. */
  readonly asker: Asker | undefined;
}

/** `agent.workflow`: found, checked and its agents there, before any issue is touched. */
export async function openIssueWorkflow(
  { home, env, store }: Pick<Around, "home" | "env" | "store">,
  frame: IssuesFrame,
): Promise<IssueWorkflow & { readonly keep: () => Promise<void> }> {
  const { settings, repoPath, runId, projectId } = frame;
  const { checkStages, readSource, writeSource } = await import("../run/workflow/start.js");
  const { graphOf } = await import("../run/workflow/drive.js");
  const { workflowLogOf } = await import("./journal.js");
  const kept = frame.unfinished ? await readSource(home, runId) : null;
  const source = kept ?? (await sourceNamed({ cwd: repoPath, home }, settings.agent.workflow ?? ""));
  const agent = stageAgents({ settings, configured: true }, env);
  if (!frame.idle) await checkStages({ agent, repoPath, asker: frame.asker }, source, await graphOf(source, null));
  const log = workflowLogOf(await store(), { runId, projectId });
  const { implementBy } = await import("../run/workflow/issue-turn.js");
  return {
    ...implementBy({ source, agent, log, stored: storedIn(await store()) }),
    keep: () => writeSource(home, runId, source),
  };
}

function storedIn(store: Store): WorkflowParts["stored"] {
  return async (machine) => {
    const view = await store.machineState(machine);
    if (view === null) return null;
    const pid = view.driverAlive ? (view.driver?.pid ?? null) : null;
    return { state: view.state as WorkflowState, done: view.done, driver: pid === process.pid ? null : pid };
  };
}

async function sourceNamed(place: Pick<Around, "cwd" | "home">, name: string): Promise<WorkflowSource> {
  const workflows = await openWorkflows(place);
  const file = workflows.find(name);
  if (file === null) {
    throw new UserError(`agent.workflow: there is no workflow ${name}`, {
      hint: `looked in ${workflows.folders().join(", ")}; ratchet workflow list shows what there is`,
      code: "config",
    });
  }
  const { source, diagnostics, graph } = await workflows.load(file);
  const wrong = diagnostics.filter(({ severity }) => severity === "error");
  if (graph !== null && wrong.length === 0) return source;
  const lines = wrong.map(({ line, column, message }) => `${file}:${line}:${column}: ${message}`);
  throw new UserError(`agent.workflow: ${name} cannot be run\n${lines.join("\n")}`, { code: "workflow-invalid" });
}

async function workflowParts(app: Around, request: WorkflowRequest): Promise<WorkflowParts> {
  const { home, env } = app;
  const store = await app.store();
  const { newRunId, newRunRecord } = await import("../run/start.js");
  const stored = request.runId === null ? null : await store.run(request.runId);
  const where = await checkoutOf(app, stored);
  const { settings, configured } = stored ? await keptSettings(app, stored, where.root) : await app.settings();
  const now = systemClock.now();
  const frame = {
    runId: stored?.runId ?? newRunId(now),
    projectId: stored?.projectId ?? (await store.registerProject(where.root)).id,
    repoPath: where.root,
    settings,
    target: stored?.record.target_branch ?? where.branch ?? "",
  };
  const { source } = request;
  const goal = request.goal ?? (stored ? await lastGoal(home, stored) : null);
  return {
    ...(await sharedParts(app, store, { ...frame, configured })),
    ask: request.ask,
    asker: request.asker,
    source,
    goal,
    graph: goal === null ? request.graph : { ...request.graph, goal },
    checkout: { path: where.root, gitDirs: where.gitDirs },
    start: { target: frame.target, commit: stored?.record.run_start_commit ?? where.head ?? "" },
    startedAt: stored === null ? now : Date.parse(stored.record.started_at),
    resume: stored !== null,
    stored: storedIn(store),
    register: async () => {
      if (stored) return;
      const record = newRunRecord(frame, { now, head: where.head ?? "", version });
      const options = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null } as const;
      const workflow = { name: request.graph.name, file: source.file, goal };
      await store.createRun({ record, settings, options: { ...options, workflow } });
    },
    env,
    home,
  };
}

/** A run keeps what it was started with; only its budget is what a person may change to let it go on. */
async function keptSettings({ settings: load }: Around, { settings }: StoredRun, root: string): Promise<Configured> {
  const now = await load(root);
  if (!now.configured) return { settings, configured: true };
  return { settings: { ...settings, budgets: now.settings.budgets }, configured: true };
}

/** The goal that was given last. */
async function lastGoal(home: Home, { runId, options }: StoredRun): Promise<string | null> {
  const { readSource } = await import("../run/workflow/start.js");
  return (await readSource(home, runId))?.goal ?? options.workflow?.goal ?? null;
}

interface Frame extends Configured {
  readonly runId: string;
  readonly projectId: string;
  readonly repoPath: string;
}

async function sharedParts(app: Around, store: Store, frame: Frame): Promise<Omit<WorkflowRun, "ask">> {
  const { runId, projectId, repoPath, settings } = frame;
  const { home, env, warn: tell } = app;
  const { historyOf, workflowLogOf } = await import("./journal.js");
  const { loadPrompts } = await import("./templates.js");
  const { createSlots } = await import("../run/slots.js");
  const { createMeter } = await import("../run/meter.js");
  const { redactor } = await import("../lib/redact.js");
  const { readIdentity } = await import("../git/repository.js");
  const history = historyOf(store, { runId, projectId, settings });
  const spent = (await store.runs(projectId, 1000)).some((run) => run.runId === runId) ? await history.spent() : null;
  return {
    runId,
    projectId,
    repoPath,
    settings,
    home,
    env,
    clock: systemClock,
    redact: redactor(env),
    ...(await loadPrompts(repoPath)),
    inbox: inboxOf(store),
    slots: createSlots(settings.max_agents),
    meter: createMeter(settings.budgets.run, spent ?? { tokens: 0, usd: 0 }),
    identity:
      rootOf(repoPath) === null ? { name: "Ratchet", email: "ratchet@localhost" } : await readIdentity(repoPath),
    mirror: once(async () => {
      const { openProjectMirror } = await import("../run/project-mirror.js");
      return await openProjectMirror({ home, projectId, repoPath, tell });
    }),
    agent: stageAgents(frame, env),
    workflowLog: workflowLogOf(store, { runId, projectId }),
    ledger: history.ledger,
    drivenUntil: await history.lastStepAt(),
  };
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** Each is loaded once, when the first stage asks for it. */
export function stageAgents(
  { settings, configured }: Configured,
  env: NodeJS.ProcessEnv,
): (choice: ModelChoice) => Promise<Agent> {
  const loaded = new Map<string | null, Promise<Agent>>();
  return async ({ provider }) => {
    if (!configured) {
      throw new UserError("no agent is configured: there is no ratchet.yaml", { hint: "ratchet init", code: "config" });
    }
    const { loadStageAgent } = await import("./adapters.js");
    const known = loaded.get(provider) ?? loadStageAgent(settings.agent, provider, env);
    loaded.set(provider, known);
    return await known;
  };
}

interface Where extends Pick<Checkout, "gitDirs"> {
  readonly root: string;
  readonly branch: string | null;
  readonly head: string | null;
}

/** The checkout around the current directory; where there is no repository, the directory itself. */
async function checkoutOf(app: Around, stored: StoredRun | null): Promise<Where> {
  const folder = stored?.record.repo_path ?? app.cwd;
  const root = rootOf(folder);
  if (root === null) return { root: folder, branch: null, head: null, gitDirs: [] };
  const { commonDirOf, inspectRepository } = await import("../git/repository.js");
  const { gitDir, branch, head } = await inspectRepository(root);
  return { root, branch, head, gitDirs: [...new Set([gitDir, await commonDirOf(root)])] };
}

/** The newest run of that file in the current directory's project that may go on. */
export async function lastRunOf(app: Around, file: string): Promise<string> {
  const store = await app.store();
  const root = rootOf(app.cwd) ?? app.cwd;
  const project = await store.projectAt(root);
  const runs = project === null ? [] : await store.runs(project.id, 1000);
  const found = runs.find(({ options }) => options.workflow?.file === file);
  if (found !== undefined) return found.runId;
  throw new Refusal(`there is no run of ${file} to resume`, { code: "not-found", hint: "ratchet logs list" });
}

export interface AskedQuestion {
  readonly runId: string;
  readonly question: Question;
  /** The option that was chosen, while the answer waits for somebody to go on with the workflow; null: nobody has answered. */
  readonly answered: string | null;
}

/** A file may outlive its question by a moment: the machine has the last word. */
export async function askedQuestions(
  app: Pick<Around, "cwd" | "home" | "store">,
  runId?: string,
): Promise<AskedQuestion[]> {
  const store = await app.store();
  const { readQuestions } = await import("../run/workflow/questions.js");
  const found: AskedQuestion[] = [];
  for (const id of runId === undefined ? await unfinishedHere(app, store) : [runId]) {
    for (const question of await readQuestions(app.home, id)) {
      if (!(await isAsked(store, { runId: id, question }))) continue;
      found.push({ runId: id, question, answered: await answerTo(store, question) });
    }
  }
  return found;
}

async function unfinishedHere({ cwd }: Pick<Around, "cwd">, store: Store): Promise<string[]> {
  const project = await store.projectAt(rootOf(cwd) ?? cwd);
  if (project === null) return [];
  const unfinished = (await store.unfinishedRuns(project.id)).map(({ run }) => run.runId);
  return [...new Set([...unfinished, ...resumable(await store.runs(project.id, lookedAt))])];
}

const lookedAt = 100;

/** What `--resume` goes on with: runs of issues, and of each workflow the last run, where they ended without success. */
function resumable(newestFirst: readonly StoredRun[]): string[] {
  const last = new Map<string, StoredRun>();
  for (const run of newestFirst) {
    const name = run.options.workflow?.file ?? run.runId;
    if (!last.has(name)) last.set(name, run);
  }
  return [...last.values()]
    .filter(({ status }) => status !== "succeeded" && status !== "running")
    .map((run) => run.runId);
}

async function answerTo(store: Store, { machine, stage }: Question): Promise<string | null> {
  const answers = (await store.signals(machine)).map(({ body }) => gateAnswerOf(body));
  return answers.find((one) => one?.stage === stage)?.option ?? null;
}

type OfRun = Pick<AskedQuestion, "runId" | "question">;

async function isAsked(store: Store, { runId, question }: OfRun): Promise<boolean> {
  const { machine, stage, visit, kept = false } = question;
  const view = await store.machineState(machine);
  if (view === null) return kept;
  const { tokens = [] } = view.state as Partial<WorkflowState>;
  const token = tokens.find((one) => one.stage === stage && one.visit === visit);
  if (token?.phase === "asking") return true;
  return kept && token?.phase === "ready" && (!view.done || (await isLastOf(store, { runId, question })));
}

/** The issue has not gone on since: in its next life it is asked anew. */
async function isLastOf(store: Store, { runId, question: { issueId } }: OfRun): Promise<boolean> {
  if (issueId === null) return false;
  const { projectId } = await store.run(runId);
  const last = await store.lastRecord(projectId, issueId);
  if (last?.runId !== runId || last.record.status === "success" || last.record.session_id === null) return false;
  const living = (await store.unfinishedRuns(projectId)).filter(({ run }) => run.runId !== runId);
  const records = await Promise.all(living.map(({ run }) => store.issueRecord(run.runId, issueId)));
  return !records.some((one) => one?.record.status === "running");
}
