import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { cpus, freemem } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "./config/diagnostic.js";
import type { ConfigFlags } from "./config/overlay.js";
import { reviewerSource } from "./config/reviewer.js";
import { addUsage } from "./core/budget.js";
import type { IssueEffect, PromptKind } from "./core/issue/effects.js";
import type { IssueEvent } from "./core/issue/events.js";
import type { IssueLife } from "./core/issue/state.js";
import type { Agent, Reviewer } from "./core/ports/agent.js";
import type { Tracker } from "./core/ports/tracker.js";
import { project } from "./core/project.js";
import type { RunReport } from "./core/report.js";
import type { RunEffect, RunEvent } from "./core/run/effects.js";
import type { RunState } from "./core/run/state.js";
import type { AgentKind, AgentSettings, ReviewerKind, ReviewerSettings, Settings } from "./core/settings.js";
import type { Repository } from "./git/repository.js";
import { systemClock } from "./lib/clock.js";
import { UserError } from "./lib/errors.js";
import { exists, readOptional } from "./lib/files.js";
import { type Home, ratchetHome } from "./lib/home.js";
import type { JournalCheck } from "./run/check-journal.js";
import type { History, Journal } from "./run/context.js";
import type { Gc } from "./run/gc.js";
import { resumeFrom } from "./run/resume.js";
import type { RunParts, RunRequest, StartedRun } from "./run/start.js";
import type { Worktrees } from "./run/worktrees.js";
import type { Project, Store, StoredRun } from "./store/store.js";
import { version } from "./version.js";

export type { RunRequest, StartedRun } from "./run/start.js";
export type { ImportedIssue, Project, Store } from "./store/store.js";

/** The program, assembled: the only place that names concrete adapters, each loaded when it is used. */
export interface App {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  /** The one connection, opened on first use. `reader`: for commands that only look. */
  store(how?: "reader"): Promise<Store>;
  /** Of the current directory. Throws UserError outside of a repository and in one without a commit. */
  repository(): Promise<Repository & { readonly head: string }>;
  /** Of the current directory, registered on first use. */
  project(): Promise<Project>;
  settings(flags: ConfigFlags): Promise<LoadedSettings>;
  /** A new run, or with `runId` an unfinished one taken up again with the settings frozen in it. */
  openRun(request: RunRequest): Promise<StartedRun>;
  /** Where the project's issues come from. */
  tracker(settings: Settings): Promise<Tracker>;
  /** Reaches the run in whatever process drives it; one that nobody drives finds it when it is taken up again. */
  signalRun(runId: string, name: "drain" | "stop"): Promise<void>;
  /** The run's machine as it is now; null: it has not begun. */
  runState(runId: string): Promise<RunState | null>;
  /** Branches of a repository that do not have what has landed for them, a sentence each; `likely` first. */
  branchesBehind(repoPath: string, likely: readonly string[]): Promise<readonly string[]>;
  /** The issues' checkouts of the current directory's project. */
  worktrees(): Promise<Worktrees>;
  /** The programs a run would start, to see whether they are there. */
  programs(settings: Settings): Promise<readonly { readonly name: string; readonly program: Agent | Reviewer }[]>;
  /** Whether the journal of a finished run gives its stored rows; null: another version wrote it. */
  checkJournal(run: StoredRun): Promise<JournalCheck | null>;
  /** What may be cleared away of the current directory's project, and how. */
  gc(settings: Settings): Promise<Gc>;
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

/** Where package.json is: however deep the bundler puts this module, it is above it. */
function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}

const notYet = (kind: string) => async (): Promise<never> => {
  throw new UserError(`${kind} is not available yet`);
};

/** What config/availability refuses never gets here; the table is complete so that the compiler finds a missing kind. */
const agents: Record<AgentKind, (settings: AgentSettings) => Promise<Agent>> = {
  claude: notYet("agent.type claude"),
  codex: notYet("agent.type codex"),
  pi: notYet("agent.type pi"),
  acp: notYet("agent.type acp"),
  command: async (settings) => (await import("./agents/command.js")).commandAgent(settings),
  scripted: async (settings) => {
    const { scriptedAgent } = await import("./agents/scripted/adapter.js");
    return scriptedAgent(settings, { program: join(packageRoot(), "dist", "scripted.js") });
  },
};
interface ReviewerPlace {
  readonly name: string;
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
}
const reviewers: Record<
  Exclude<ReviewerKind, "panel">,
  (chosen: ReviewerSettings, place: ReviewerPlace) => Promise<Reviewer>
> = {
  cerberus: async ({ cerberus }, { name, env }) => {
    const { cerberusReviewer } = await import("./reviewers/cerberus.js");
    return cerberusReviewer({ name, settings: cerberus, program: join(packageRoot(), "dist", "cerberus.js"), env });
  },
  agent_sdk: async (chosen, { name, settings }) => {
    const { agentReviewer } = await import("./reviewers/agent-sdk.js");
    const other = chosen.agent_sdk_agent ?? { type: "claude" as const, model: chosen.agent_sdk_model, effort: null };
    const agent = await agents[other.type]({ ...settings.agent, ...other });
    const { model, effort } = other;
    return agentReviewer({ name, agent, model, effort, timeoutSeconds: chosen.agent_sdk_timeout });
  },
  command: async ({ command }, { name }) => (await import("./reviewers/command.js")).commandReviewer({ name, command }),
};
interface TrackerPlace {
  readonly store: Store;
  readonly projectId: string;
  readonly repoPath: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}
const trackers: Record<Settings["tracker"]["type"], (place: TrackerPlace) => Promise<Tracker>> = {
  local: async ({ store, projectId }) => (await import("./trackers/local.js")).localTracker(store.workItems, projectId),
  beads: async ({ store, repoPath, env, home }) => {
    const { beadsTracker, missingBeads } = await import("./trackers/beads.js");
    const missing = missingBeads({ cwd: repoPath, env });
    if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
    return beadsTracker(
      { cwd: repoPath, env },
      { lockFolder: join(home.root, "locks", "beads"), isOver: isOverIn(store) },
    );
  },
  github: notYet("tracker.type github"),
};

/** A run that this home does not know may be another machine's, and alive. */
function isOverIn(store: Store): (runId: string) => Promise<boolean> {
  return async (runId) => {
    const known = (await store.runs(null, 10_000)).some((run) => run.runId === runId);
    return known && !(await store.unfinishedRuns(null)).some(({ run }) => run.runId === runId);
  };
}

export function createApp({ cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): App {
  const home = ratchetHome(env);
  let opened: Promise<Store> | null = null;
  const store: App["store"] = (how) => {
    opened ??= import("./store/store.js").then(({ openStore }) => openStore({ home, readonly: how === "reader" }));
    return opened;
  };
  const repository: App["repository"] = async () => {
    const { inspectRepository } = await import("./git/repository.js");
    const found = await inspectRepository(cwd);
    if (found.head === null) {
      throw new UserError(`${found.root} has no commit yet`, {
        hint: "commit something first: agents start from a commit",
      });
    }
    return { ...found, head: found.head };
  };
  const app: App = {
    cwd,
    env,
    home,
    store,
    repository,
    project: async () => (await store()).registerProject((await repository()).root),
    settings: (flags) => loadSettings(app, flags),
    openRun: async (request) => {
      const { startRun } = await import("./run/start.js");
      return await startRun(await runParts(app, request));
    },
    tracker: async (settings) => {
      const { id: projectId, repoPath } = await app.project();
      return await trackers[settings.tracker.type]({ store: await store(), projectId, repoPath, env, home });
    },
    signalRun: async (runId, name) => {
      const { runMachineId } = await import("./run/context.js");
      await (await store()).signal(runMachineId(runId), { name });
    },
    runState: async (runId) => {
      const { runMachineId } = await import("./run/context.js");
      const view = await (await store()).machineState(runMachineId(runId));
      return view === null ? null : (view.state as RunState);
    },
    branchesBehind: async (repoPath, likely) => {
      const { branchesBehind } = await import("./run/behind.js");
      const known = await (await store("reader")).projectAt(repoPath);
      return await branchesBehind(repoPath, likely, known === null ? null : home.mirror(known.id));
    },
    worktrees: async () => {
      const { openWorktrees } = await import("./run/worktrees.js");
      const { id, repoPath } = await app.project();
      return openWorktrees({ home, projectId: id, repoPath });
    },
    programs: async (settings) => {
      const reviewing = [...(await loadReviewers(settings, env))];
      return [
        { name: "agent", program: await agents[settings.agent.type](settings.agent) },
        ...reviewing.map(([slot, program]) => ({ name: `reviewer ${slot}`, program })),
      ];
    },
    checkJournal: async (run) => await checkRun(await store(), run),
    gc: async ({ retention_days: retentionDays }) => {
      const { openGc } = await import("./run/gc.js");
      const { id: projectId, repoPath } = await app.project();
      const now = systemClock.now();
      return await openGc({ home, projectId, repoPath, retentionDays, now, store: await store() });
    },
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

async function checkRun(store: Store, run: StoredRun): Promise<JournalCheck | null> {
  const { runId, projectId, settings, options, record } = run;
  if (record.version !== version) return null;
  const { checkJournal } = await import("./run/check-journal.js");
  return await checkJournal({
    policy: { runId, projectId, settings, options, target: record.target_branch },
    options,
    journal: (machine) => store.journal(machine),
    state: async (machine) => (await store.machineState(machine))?.state ?? null,
  });
}

async function loadSettings(app: App, flags: ConfigFlags): Promise<LoadedSettings> {
  const { loadConfig } = await import("./config/load.js");
  const dir = (await app.repository()).root;
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const loaded = await loadConfig({ dir, env: app.env, flags, machine });
  if (!loaded.ok) throw new ConfigInvalid(loaded.file, loaded.diagnostics);
  return loaded;
}

async function runParts(app: App, request: RunRequest): Promise<RunParts> {
  const [store, repository] = [await app.store(), await app.repository()];
  const { newRunId, newRunRecord } = await import("./run/start.js");
  const stored = request.type === "unfinished" ? await store.run(request.runId) : null;
  const { settings, options } = request.type === "new" ? request : await store.run(request.runId);
  const projectId = stored?.projectId ?? (await store.registerProject(repository.root)).id;
  const now = systemClock.now();
  const frame = {
    runId: stored?.runId ?? newRunId(now),
    projectId,
    repoPath: stored?.record.repo_path ?? repository.root,
    target: stored?.record.target_branch ?? (await targetOf(repository, settings)),
    settings,
    options,
  };
  return {
    ...frame,
    home: app.home,
    env: app.env,
    clock: systemClock,
    tracker: await trackers[settings.tracker.type]({ store, ...frame, env: app.env, home: app.home }),
    agent: await agents[settings.agent.type](settings.agent),
    reviewers: await loadReviewers(settings, app.env),
    templates: await loadTemplates(frame.repoPath),
    projectText: await readOptional(join(frame.repoPath, ".ratchet", "prompts", "append.md")),
    journal: journalOf(store, frame),
    inbox: {
      send: async (machine, body) => void (await store.signal(machine, body)),
      next: (machine, signal) => store.nextSignal(machine, 0, signal),
    },
    history: historyOf(store, frame),
    unfinished: async () => (await store.unfinishedRuns(projectId)).map(({ run }) => run.runId),
    register: async () => {
      if (stored) return;
      const record = newRunRecord(frame, { now, head: repository.head, version });
      await store.createRun({ record, settings, options });
    },
  };
}

async function targetOf(repository: Repository, settings: Settings): Promise<string> {
  const target = settings.finalize.into ?? repository.branch;
  if (target !== null) {
    const { readRefs } = await import("./git/mirror-refs.js");
    const ref = `refs/heads/${target}`;
    if (target === repository.branch || (await readRefs(repository.root, [ref])).has(ref)) return target;
    throw new UserError(`finalize.into names ${target}, and there is no such branch`, { hint: `git branch ${target}` });
  }
  throw new UserError("the checkout is detached, so there is no branch to land on", {
    hint: "check out a branch, or set finalize.into in ratchet.yaml",
  });
}

/** One reviewer per slot: the panel's members, or the one there is. None when no review is enabled. */
async function loadReviewers(settings: Settings, env: NodeJS.ProcessEnv): Promise<Map<string, Reviewer>> {
  const { section, reviewer } = reviewerSource(settings);
  if (section === "default") return new Map();
  const { reviewer_type: kind } = reviewer;
  if (kind !== "panel") return new Map([[kind, await reviewers[kind](reviewer, { name: kind, settings, env })]]);
  const members = reviewer.panel.map(async (member) => {
    const { name, reviewer_type } = member;
    return [name, await reviewers[reviewer_type](member, { name, settings, env })] as const;
  });
  return new Map(await Promise.all(members));
}

/** The shipped templates, each replaced by the project's own where .ratchet/prompts/ has one. */
async function loadTemplates(repoPath: string): Promise<Record<PromptKind, string>> {
  const { checkTemplate, promptKinds, TemplateError } = await import("./prompts/templates.js");
  const shipped = join(packageRoot(), "prompts");
  const own = join(repoPath, ".ratchet", "prompts");
  const read = async (kind: PromptKind) => {
    const file = (await exists(join(own, `${kind}.md`))) ? join(own, `${kind}.md`) : join(shipped, `${kind}.md`);
    const text = await readFile(file, "utf8");
    try {
      checkTemplate(kind, text, file);
    } catch (error) {
      throw error instanceof TemplateError ? new UserError(error.message) : error;
    }
    return [kind, text] as const;
  };
  return Object.fromEntries(await Promise.all(promptKinds.map(read))) as Record<PromptKind, string>;
}

interface Frame {
  readonly runId: string;
  readonly projectId: string;
  readonly settings: Settings;
}

/** How the machines' states cross the store: a life's ledger is rows of its own, its state is JSON. */
function journalOf(store: Store, { runId, projectId }: Frame): Journal {
  return {
    run: (machine) =>
      store.log<RunState, RunEvent, RunEffect, RunReport>({
        machine,
        kind: "run",
        runId,
        codec: {
          encode: (state) => state,
          decode: (state) => state as RunState,
          rows: (event) => project(event, null),
        },
      }),
    life: (machine, issueId) =>
      store.log<IssueLife, IssueEvent, IssueEffect, RunReport>({
        machine,
        kind: "issue",
        runId,
        codec: {
          encode: (life) => life.state,
          decode: (state, findings) => ({ state: state as IssueLife["state"], ledger: { issueId, findings } }),
          ledgerIssue: { projectId, issueId },
          rows: (event, life) => project(event, life.ledger),
        },
      }),
  };
}

function historyOf(store: Store, { runId, projectId, settings }: Frame): History {
  const ledger = async (issueId: string) => ({
    issueId,
    findings: await store.findings({ projectId, issueId, all: true }),
  });
  return {
    ledger,
    record: async (issueId) => (await store.issueRecord(runId, issueId))?.record ?? null,
    spent: async () =>
      (await store.issueRecords(runId)).reduce((sum, { record }) => addUsage(sum, record.usage), { tokens: 0, usd: 0 }),
    hadLife: async (issueId) => (await store.issueRecord(runId, issueId)) !== null,
    nextLife: (issueId) => store.nextLife(projectId, issueId),
    resumeFrom: async (issueId) => {
      const last = await store.lastRecord(projectId, issueId);
      return last === null ? null : resumeFrom(last, await ledger(issueId), settings.agent.type);
    },
  };
}
