import { cpus, freemem } from "node:os";
import type { ForgeStatus } from "./app/forge.js";
import type { PullRequests } from "./app/pull-requests.js";
import { warn } from "./app/warn.js";
import type { AskedQuestion, Configured, WorkflowRequest, Workflows } from "./app/workflow.js";
import type { Diagnostic } from "./config/diagnostic.js";
import type { ConfigFlags } from "./config/overlay.js";
import type { OnBranch } from "./core/not-ready.js";
import type { Agent, Reviewer } from "./core/ports/agent.js";
import type { AgentEvent } from "./core/ports/agent-event.js";
import type { Asker, Tracker } from "./core/ports/tracker.js";
import type { PrState } from "./core/pull-request/state.js";
import type { RunState } from "./core/run/state.js";
import type { Settings } from "./core/settings.js";
import type { Lacking } from "./git/landing/lacking.js";
import type { Repository } from "./git/repository.js";
import { systemClock } from "./lib/clock.js";
import { UserError } from "./lib/errors.js";
import { type Home, ratchetHome } from "./lib/home.js";
import type { JournalCheck } from "./run/check-journal.js";
import type { Gc } from "./run/gc.js";
import type { MirrorHealth } from "./run/mirror-health.js";
import type { RunRequest, StartedRun } from "./run/start.js";
import type { OwedTelling, Telling } from "./run/tracker-outbox.js";
import type { AskedForIssues } from "./run/unmerged.js";
import type { Answer, Question } from "./run/workflow/context.js";
import type { LoadedWorkflow } from "./run/workflow/load.js";
import type { StartedWorkflow } from "./run/workflow/start.js";
import type { Worktrees } from "./run/worktrees.js";
import type { Project, Store, StoredRun } from "./store/store.js";

export type { PullRequests } from "./app/pull-requests.js";
export type { WorkflowRequest } from "./app/workflow.js";
export type { RunRequest, StartedRun } from "./run/start.js";
export type { Answer, Question } from "./run/workflow/context.js";
export type { LoadedWorkflow } from "./run/workflow/load.js";
export type { ImportedIssue, OnlyHistory, Project, Store, StoredRun } from "./store/store.js";

/** The program, assembled. Its rooms are in app/; whatever a command does not need is not loaded. */
export interface App {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  /** The one connection, opened on first use. `reader`: for commands that only look. */
  store(how?: "reader"): Promise<Store>;
  /** Of the current directory. Throws UserError outside of a repository and in one without a commit. */
  repository(): Promise<Repository & { readonly head: string }>;
  /** The branch that a run of the current directory lands on. Throws UserError where there is none. */
  target(settings: Settings): Promise<string>;
  /** The top of its checkout, asked for once. */
  root(): Promise<string>;
  /** Of the current directory, registered on first use. */
  project(): Promise<Project>;
  /** Whether the current directory's repository may be that of a project: they share history, or nothing is known. */
  mayBeRepositoryOf(projectId: string): Promise<boolean>;
  settings(flags: ConfigFlags): Promise<LoadedSettings>;
  /** Which of these files of the checkout no worktree of a new run will have. */
  filesNotOnTarget(
    settings: Settings,
    files: { readonly paths: readonly string[]; readonly forSetup?: boolean },
  ): Promise<readonly string[]>;
  /** Which of these files of a folder git leaves out; outside of a repository none. */
  ignoredFiles(folder: string, paths: readonly string[]): Promise<readonly string[]>;
  /** What of `worktree.copy` no worktree will have, in words; null: nothing. */
  notCopied(settings: Settings): Promise<string | null>;
  /**
   * A new run, or with `runId` an unfinished one taken up again with the settings frozen in it. An asker that leaves while
   * its programs are tested ends that: nothing has begun, and the signal's reason is thrown.
   */
  openRun(request: RunRequest, asker?: Asker): Promise<StartedRun>;
  /** Where the project's issues come from. `folder`: looked at as it is, whether or not a run could start there. */
  tracker(settings: Settings, folder?: string): Promise<Tracker>;
  /** Reaches the run in whatever process drives it; one that nobody drives finds it when it is taken up again. */
  signalRun(runId: string, name: "drain" | "stop" | "unwatch"): Promise<void>;
  /** The machine that hears it. */
  runMachine(runId: string): Promise<string>;
  /** The run's machine as it is now; null: it has not begun. */
  runState(runId: string): Promise<RunState | null>;
  /** null: it has not been looked at yet. */
  pullRequestState(projectId: string, number: number): Promise<PrState | null>;
  /** Branches of a project's repository that do not have what has landed for them, a sentence each. */
  branchesBehind(project: Project): Promise<readonly string[]>;
  /**
   * Which of these issues have their work on a branch that is not merged into the target, in mode `branch`. `tracker`: as
   * whoever waits for the answer has opened it.
   */
  unmerged(settings: Settings, issueIds: readonly string[], tracker?: AskedForIssues): Promise<readonly OnBranch[]>;
  /** The mirror of a project, at a glance or `thorough`; null: none is needed yet. */
  lookAtMirror(projectId: string, how?: { readonly thorough: boolean }): Promise<MirrorHealth | null>;
  /** What a target has by now, and the work in a worktree has not; null: nothing, as far as can be told. */
  lacking(worktree: string, where: { readonly repoPath: string; readonly target: string }): Promise<Lacking | null>;
  /** The issues' checkouts of the current directory's project. */
  worktrees(): Promise<Worktrees>;
  /** The programs a run would start, to see whether they are there. */
  programs(settings: Settings): Promise<readonly { readonly name: string; readonly program: Agent | Reviewer }[]>;
  /** One small call to the model of such a program. */
  tryProgram(program: Agent | Reviewer, settings: Settings): Promise<{ readonly ok: boolean; readonly detail: string }>;
  /** What the turn in an attempt's folder did; null: its program does not tell. */
  transcript(settings: Settings, folder: string): Promise<AsyncIterable<AgentEvent> | null>;
  /** Whether the journal of a finished run gives its stored rows; null: another version wrote it. */
  checkJournal(run: StoredRun): Promise<JournalCheck | null>;
  /** The workflows that the current directory knows by name, and any by file. */
  workflows(): Promise<Workflows>;
  /** Runs a workflow, or goes on with a run of one. */
  openWorkflow(request: WorkflowRequest): Promise<StartedWorkflow>;
  /** The agents of its stages are there; throws UserError where one is not. */
  checkWorkflow(source: LoadedWorkflow["source"]): Promise<void>;
  /** The newest run of a workflow's file. Throws Refusal where there is none. */
  lastWorkflowRun(file: string): Promise<string>;
  /** What a run asks, or the unfinished runs of the current directory's project. */
  questions(runId?: string): Promise<readonly AskedQuestion[]>;
  answer(question: Question, answer: Answer): Promise<void>;
  /** What became of issues of the current directory's project, where such a tracker has not been told yet. */
  untold(tracker: Tracker["kind"]): Promise<readonly Telling[]>;
  /** The same, of whatever kind of tracker, of a project or of all; nothing is registered. */
  owed(projectId: string | null): Promise<readonly OwedTelling[]>;
  /** The follow-ups that a run has made or added to. */
  followUpsOf(runId: string): Promise<readonly string[]>;
  /** The pull requests of the current directory's project. */
  pullRequests(settings: Settings): Promise<PullRequests>;
  /** Who and where the forge of a folder's repository is, and what is wrong with it. */
  forgeStatus(settings: Settings, folder: string): Promise<ForgeStatus>;
  /** What a run refuses in the prompts that a folder's project has of its own, and what seems to be one and is none. */
  checkPrompts(folder: string): Promise<readonly Diagnostic[]>;
  /** What may be cleared away of the current directory's project, and how. */
  /** `isClosed`: an issue is done, as another tracker says. */
  gc(settings: Settings, isClosed: (issueId: string) => Promise<boolean>): Promise<Gc>;
  close(): void;
}
export interface LoadedSettings {
  readonly settings: Settings;
  readonly file: string;
  readonly warnings: readonly Diagnostic[];
}
/** The configuration does not hold: every reason at once. */
export class ConfigInvalid extends UserError {
  readonly diagnostics: readonly Diagnostic[];
  constructor(file: string | null, diagnostics: readonly Diagnostic[]) {
    super(`${file ?? "ratchet.yaml"} cannot be used`, { code: "config" });
    this.diagnostics = diagnostics;
  }
}

export function createApp({ cwd, env: given }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): App {
  // The process's own is no plain object: every name in it is asked for anew.
  const env = { ...given };
  const home = ratchetHome(env);
  let opened: Promise<Store> | null = null;
  const store: App["store"] = (how) => {
    opened ??= import("./store/store.js").then(({ openStore }) => openStore({ home, readonly: how === "reader" }));
    return opened;
  };
  const repository = () => repositoryAt(cwd);
  const root = rootOnce(repository);
  const app: App = {
    cwd,
    env,
    home,
    store,
    repository,
    root,
    ...projectRooms({ home, store, root }),
    settings: (flags) => loadSettings(app, flags),
    ...targetRooms(repository),
    openRun: async (request, asker) => {
      const { startRun } = await import("./run/start.js");
      const { runParts } = await import("./app/run-parts.js");
      return await startRun(await runParts({ ...app, warn }, request, asker), asker);
    },
    tracker: async (settings, folder) => {
      const { id: projectId, repoPath } =
        folder === undefined ? await app.project() : await projectIn(await store(), folder);
      const { trackers } = await import("./app/adapters.js");
      return await trackers[settings.tracker.type]({ settings, store: await store(), projectId, repoPath, env, home });
    },
    signalRun: async (runId, name) => void (await (await store()).signal(await app.runMachine(runId), { name })),
    runMachine: async (runId) => await findRunMachine(await store(), runId),
    runState: async (runId) => {
      const { runMachineId } = await import("./run/context.js");
      const view = await (await store()).machineState(runMachineId(runId));
      return view === null ? null : (view.state as RunState);
    },
    pullRequestState: async (projectId, number) => {
      const { pullRequestMachineId } = await import("./run/context.js");
      const view = await (await store()).machineState(pullRequestMachineId(projectId, number));
      return view === null ? null : (view.state as PrState);
    },
    branchesBehind: async ({ id, repoPath }) => {
      const { branchesBehind } = await import("./run/behind.js");
      return await branchesBehind(
        { repoPath, mirrorPath: home.mirror(id) },
        async () => await recentTargets(await store("reader"), id),
      );
    },
    unmerged: (...asked) => unmergedOf(app, ...asked),
    lookAtMirror: async (...asked) => (await import("./run/mirror-health.js")).lookAtMirror(home, ...asked),
    lacking: async (...asked) => (await import("./git/landing/lacking.js")).readLacking(...asked),
    worktrees: () => worktreesOf(app),
    ...programRooms(env),
    checkJournal: async (run) => (await import("./app/check-run.js")).checkRun(await store(), run),
    untold: (tracker) => untoldTo(app, tracker),
    owed: async (projectId) => (await import("./app/journal.js")).owedTellings(await store("reader"), projectId),
    followUpsOf: (runId) => followUpsOf(app, runId),
    pullRequests: (settings) => pullRequestsOf(app, settings),
    forgeStatus: async (settings, repoPath) => {
      const { forgeStatusOf } = await import("./app/forge.js");
      return await forgeStatusOf({ settings, repoPath, env });
    },
    checkPrompts: async (folder) => (await import("./app/templates.js")).checkPrompts(folder),
    gc: (...asked) => gcOf(app, ...asked),
    ...workflowRooms({ cwd, env, home, store, warn, settings: (folder) => settingsOrDefaults(app, folder) }),
    close: () => {
      // A store that could not be opened has been reported already.
      opened?.then(
        (open) => open.close(),
        () => undefined,
      );
    },
  };
  return app;
}

async function findRunMachine(store: Store, runId: string): Promise<string> {
  const id = (await import("./run/context.js")).runMachineId(runId);
  if ((await store.machineState(id)) !== null) return id;
  // A workflow's may be its second.
  return (await store.machines(runId)).findLast(({ kind }) => kind === "run")?.id ?? id;
}

function projectRooms({ home, store, root }: Pick<App, "home" | "store" | "root">) {
  const rooms = () => import("./app/moved-project.js");
  return {
    project: async () => (await rooms()).registerTelling(await store(), await root(), warn),
    mayBeRepositoryOf: async (projectId) => (await rooms()).mayBeRepositoryOf(home, projectId, await root()),
  } satisfies Partial<App>;
}

async function worktreesOf({ home, project, store }: Pick<App, "home" | "project" | "store">): Promise<Worktrees> {
  const { openWorktrees } = await import("./run/worktrees.js");
  const { id, repoPath } = await project();
  const baseOf = async (issueId: string) => (await (await store()).lastRecord(id, issueId))?.record.base_sha ?? null;
  return openWorktrees({ home, projectId: id, repoPath, baseOf, tell: warn });
}

async function gcOf(
  { home, project, store }: Pick<App, "home" | "project" | "store">,
  ...[{ retention_days: retentionDays }, isClosed]: Parameters<App["gc"]>
): Promise<Gc> {
  const { openGc } = await import("./run/gc.js");
  const { id: projectId, repoPath } = await project();
  const times = { retentionDays, now: systemClock.now() };
  return await openGc({ home, projectId, repoPath, ...times, store: await store(), isClosed, tell: warn });
}

function targetRooms(repository: App["repository"]) {
  const rooms = () => import("./app/target.js");
  return {
    target: async (settings) => (await rooms()).targetOf(await repository(), settings),
    notCopied: async ({ worktree: { copy } }) => {
      const { findNotCopied } = await import("./git/checkout/copy.js");
      const { notCopiedText } = await import("./core/not-copied.js");
      return notCopiedText(await findNotCopied({ copy, repoPath: (await repository()).root }));
    },
    filesNotOnTarget: async (settings, files) => (await rooms()).filesNotOnTarget(await repository(), settings, files),
    ignoredFiles: async (folder, paths) => (await rooms()).ignoredFiles(folder, paths),
  } satisfies Partial<App>;
}

/** Agents and reviewers, from outside of a run. */
function programRooms(env: NodeJS.ProcessEnv) {
  return {
    programs: async (settings) => {
      const { loadPrograms } = await import("./app/adapters.js");
      return await loadPrograms(settings, env);
    },
    tryProgram: async (program, settings) => {
      const { tryProgram } = await import("./run/try-program.js");
      return await tryProgram(program, { settings, env });
    },
    transcript: async (settings, folder) => {
      const { readTranscript } = await import("./app/transcript.js");
      return await readTranscript({ settings, env, folder });
    },
  } satisfies Partial<App>;
}

async function recentTargets(store: Store, projectId: string): Promise<readonly string[]> {
  return (await store.runs(projectId, 3)).map(({ record }) => record.target_branch);
}

/** Looking registers nothing: one that is not known goes by its path, which is no project's id. */
async function projectIn(store: Store, repoPath: string): Promise<{ readonly id: string; readonly repoPath: string }> {
  return (await store.projectAt(repoPath)) ?? { id: repoPath, repoPath };
}

async function untoldTo({ project, store }: App, tracker: Tracker["kind"]): Promise<readonly Telling[]> {
  const { outboxRows } = await import("./app/journal.js");
  const { readOutbox } = await import("./run/tracker-outbox.js");
  const { id: projectId } = await project();
  return await readOutbox(outboxRows(await store(), { tracker, projectId }));
}

async function followUpsOf({ store }: App, runId: string): Promise<readonly string[]> {
  const { followUpsMade } = await import("./app/journal.js");
  return await followUpsMade(await store(), runId).all();
}

async function pullRequestsOf({ project, store, home, env }: App, settings: Settings): Promise<PullRequests> {
  const { openPullRequests } = await import("./app/pull-requests.js");
  const { id: projectId, repoPath } = await project();
  return openPullRequests({ store: await store(), settings, projectId, repoPath, home, env });
}

function workflowRooms(around: Parameters<typeof import("./app/workflow.js").openWorkflow>[0]) {
  const rooms = () => import("./app/workflow.js");
  return {
    workflows: async () => (await rooms()).openWorkflows(around),
    openWorkflow: async (request) => (await rooms()).openWorkflow(around, request),
    checkWorkflow: async (source) => (await rooms()).checkWorkflow(around, source),
    lastWorkflowRun: async (file) => (await rooms()).lastRunOf(around, file),
    questions: async (runId) => (await rooms()).askedQuestions(around, runId),
    answer: async ({ machine, stage, visit }, answer) =>
      void (await (await around.store()).signal(machine, { name: "answer", stage, visit, ...answer })),
  } satisfies Partial<App>;
}

/** For what may do without an agent: a missing file is no mistake, a wrong one is. */
async function settingsOrDefaults(app: App, folder = app.cwd): Promise<Configured> {
  const { defaultConfig, loadConfig } = await import("./config/load.js");
  const { rootOf } = await import("./app/workflow.js");
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const context = { dir: rootOf(folder) ?? folder, env: app.env, flags: {}, machine };
  const loaded = await loadConfig(context);
  if (loaded.ok) return { settings: loaded.settings, configured: true };
  const plain = loaded.file === null ? defaultConfig(context) : loaded;
  if (!plain.ok) throw new ConfigInvalid(loaded.file, plain.diagnostics);
  const named = Object.keys(app.env).some((name) => name.startsWith("RATCHET_AGENT"));
  return { settings: plain.settings, configured: named };
}

/** What its branch and commit are may change while this process lives; where it is does not. */
function rootOnce(repository: App["repository"]): App["root"] {
  let found: string | null = null;
  return async () => {
    found ??= (await repository()).root;
    return found;
  };
}

async function repositoryAt(cwd: string): ReturnType<App["repository"]> {
  const { inspectRepository } = await import("./git/repository.js");
  const found = await inspectRepository(cwd);
  if (found.head !== null) return { ...found, head: found.head };
  const first = found.bare ? "push a commit to it" : "commit something";
  throw new UserError(`${found.root} has no commit yet`, { hint: `${first} first: agents start from a commit` });
}

async function loadSettings(app: App, flags: ConfigFlags): Promise<LoadedSettings> {
  const { loadConfig } = await import("./config/load.js");
  const dir = await app.root();
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const loaded = await loadConfig({ dir, env: app.env, flags, machine });
  if (!loaded.ok) throw new ConfigInvalid(loaded.file, loaded.diagnostics);
  return loaded;
}

async function unmergedOf(
  app: App,
  ...[settings, issueIds, tracker]: Parameters<App["unmerged"]>
): ReturnType<App["unmerged"]> {
  if (issueIds.length === 0) return [];
  const { unmergedDeps } = await import("./run/unmerged.js");
  const repository = await app.repository();
  const target = settings.finalize.into ?? repository.branch;
  // A run says what is wrong with its target; here it only means that nothing is known.
  if (target === null) return [];
  const mirror = { path: app.home.mirror((await app.project()).id) };
  const place = { settings, repoPath: repository.root, mirror, target };
  return await unmergedDeps(place, tracker ?? (await app.tracker(settings)), issueIds);
}
