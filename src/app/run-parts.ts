import type { Asker } from "../core/ports/tracker.js";
import type { Settings } from "../core/settings.js";
import type { Repository } from "../git/repository.js";
import { systemClock } from "../lib/clock.js";
import type { Home } from "../lib/home.js";
import type { RunParts, RunRequest } from "../run/start.js";
import type { Store } from "../store/store.js";
import { version } from "../version.js";
import { inboxOf } from "./inbox.js";

/** What of the program a run is made from. */
interface Around {
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
  readonly warn: (text: string) => void;
  store(): Promise<Store>;
  repository(): Promise<Repository & { readonly head: string }>;
  target(settings: Settings): Promise<string>;
}

/** A run of issues, assembled: its adapters chosen, its record ready to be written. */
export async function runParts(app: Around, request: RunRequest, asker?: Asker): Promise<RunParts> {
  const [store, repository] = [await app.store(), await app.repository()];
  const { newRunId, newRunRecord } = await import("../run/start.js");
  const { loadAgent, loadFallback, loadReviewers, trackers } = await import("./adapters.js");
  const { followUpsMade, historyOf, journalOf, outboxRows } = await import("./journal.js");
  const { openOutbox } = await import("../run/tracker-outbox.js");
  const { loadPrompts } = await import("./templates.js");
  const stored = request.type === "unfinished" ? await store.run(request.runId) : null;
  const { settings, options } = request.type === "new" ? request : await store.run(request.runId);
  const project = await store.registerProject(repository.root);
  const projectId = stored?.projectId ?? project.id;
  const now = systemClock.now();
  const frame = {
    runId: stored?.runId ?? newRunId(now),
    projectId,
    // A repository that was moved since is where it is now.
    repoPath: projectId === project.id ? repository.root : (stored?.record.repo_path ?? repository.root),
    target: stored?.record.target_branch ?? (await app.target(settings)),
    settings,
    options,
  };
  const workflow = await issueWorkflow(app, frame, { unfinished: stored !== null, asker });
  return {
    ...frame,
    workflow,
    home: app.home,
    env: app.env,
    clock: systemClock,
    tracker: await trackers[settings.tracker.type]({ store, ...frame, env: app.env, home: app.home }),
    outbox: openOutbox(
      outboxRows(store, { tracker: settings.tracker.type, projectId }),
      followUpsMade(store, frame.runId),
    ),
    board: store.workItems,
    follow: await followFor(app, store, frame),
    warn: app.warn,
    agent: await loadAgent(settings.agent, null, app.env),
    fallback: await loadFallback(settings.agent, app.env),
    reviewers: await loadReviewers(settings, app.env),
    ...(await loadPrompts(frame.repoPath)),
    journal: journalOf(store, frame),
    inbox: inboxOf(store),
    history: historyOf(store, frame),
    unfinished: async () => (await store.unfinishedRuns(projectId)).map(({ run }) => run.runId),
    register: async () => {
      if (stored) return;
      const record = newRunRecord(frame, { now, head: repository.head, version });
      await store.createRun({ record, settings, options });
      await workflow?.keep();
    },
  };
}

/** Loaded where a workflow implements the issues. */
async function issueWorkflow(
  app: Around,
  frame: Pick<RunParts, "settings" | "projectId" | "repoPath" | "runId" | "options">,
  how: { readonly unfinished: boolean; readonly asker: Asker | undefined },
) {
  if (frame.settings.agent.workflow === null) return null;
  const { openIssueWorkflow } = await import("./workflow.js");
  return await openIssueWorkflow(app, { ...frame, ...how, idle: frame.options.only !== undefined });
}

/** Loaded where pull requests are wanted. */
async function followFor(app: Around, store: Store, frame: Pick<RunParts, "settings" | "projectId" | "repoPath">) {
  const { needsForge } = await import("./forge.js");
  if (!needsForge(frame.settings)) return null;
  const { followContext } = await import("./pull-requests.js");
  return await followContext({ ...frame, store, home: app.home, env: app.env });
}
