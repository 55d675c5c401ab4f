import { randomBytes } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { notCopiedText } from "../core/not-copied.js";
import type { Agent, Reviewer } from "../core/ports/agent.js";
import type { Asker } from "../core/ports/tracker.js";
import type { RunRecord } from "../core/record.js";
import type { RunOptions } from "../core/run/effects.js";
import type { Settings } from "../core/settings.js";
import { findNotCopied } from "../git/checkout/copy.js";
import { startGitBySmallShells } from "../git/git.js";
import { clearTheWay } from "../git/landing/former-target.js";
import { removeLandingWorktree } from "../git/landing/land.js";
import { readIdentity } from "../git/repository.js";
import { catchUpTarget } from "../git/users-branch/follow.js";
import { removeWorktree } from "../git/worktree/worktree.js";
import { UserError } from "../lib/errors.js";
import { namesIn } from "../lib/files.js";
import { withLock } from "../lib/lock.js";
import { prepareShims } from "../lib/process/start.js";
import { redactor } from "../lib/redact.js";
import { createCommandPlaces } from "./command-places.js";
import { type RunContext, runMachineId, runNames } from "./context.js";
import { driveRun } from "./drive-run.js";
import { createLandingLease } from "./landing-lease.js";
import { createMeter } from "./meter.js";
import { landingName } from "./perform/land.js";
import { giveBackSlotNumber } from "./perform/slot-number.js";
import { openProjectMirror } from "./project-mirror.js";
import type { FollowContext } from "./pull-requests/context.js";
import { followPullRequests, settlePullRequests } from "./pull-requests/follow.js";
import { missingSandbox } from "./sandbox.js";
import { createSlots } from "./slots.js";
import { ToldToEnd } from "./told-to-end.js";

/** What to run: something new, or an unfinished run as it was frozen. */
export type RunRequest =
  | { readonly type: "new"; readonly settings: Settings; readonly options: RunOptions }
  | { readonly type: "unfinished"; readonly runId: string };

/** A run that has begun. Signals may come from any process; `kill` leaves it unfinished, as a crash would. */
export interface StartedRun {
  readonly runId: string;
  readonly target: string;
  readonly done: Promise<{ readonly exitCode: number }>;
  /** Settles when this process drives it; rejects where another does. */
  begun(): Promise<void>;
  signal(name: "drain" | "stop"): Promise<void>;
  kill(): void;
}

/** What startRun itself adds to what app/run-parts.ts has chosen. */
type Added =
  | "mirror"
  | "identity"
  | "redact"
  | "slots"
  | "commandPlaces"
  | "landing"
  | "meter"
  | "told"
  | "drivenUntil"
  | "forge"
  | "pullRequestsSeen";

/** What the run is made of; app/run-parts.ts chooses. */
export interface RunParts extends Omit<RunContext, Added> {
  /** null: work goes into no pull requests. */
  readonly follow: FollowContext | null;
  /** Runs that somebody drives or will drive, as of now; what belongs to others is left over. */
  readonly unfinished: () => Promise<readonly string[]>;
  /** Writes the run's record down before its machine starts; nothing for one that is taken up again. */
  readonly register: () => Promise<void>;
}

/** Sortable by time, told apart by chance. */
export function newRunId(now: number): string {
  const time = new Date(now).toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return `${time}-${randomBytes(3).toString("hex")}`;
}

export function newRunRecord(
  parts: Pick<RunParts, "runId" | "projectId" | "repoPath" | "target" | "settings">,
  at: { readonly now: number; readonly head: string; readonly version: string },
): Omit<RunRecord, "issues"> {
  return {
    run_id: parts.runId,
    started_at: new Date(at.now).toISOString(),
    completed_at: null,
    version: at.version,
    repo_path: parts.repoPath,
    project_id: parts.projectId,
    status: "running",
    exit_code: null,
    target_branch: parts.target,
    run_start_commit: at.head,
    config: parts.settings,
    run_end: null,
  };
}

async function checkSandbox({ settings, env }: RunParts): Promise<void> {
  const missing = settings.agent.sandbox === "bwrap" ? await missingSandbox(env) : null;
  if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
}

/** A forge that is away is no obstacle, and nobody waits for one long. */
const forgePatienceMs = 5_000;
async function checkForge({ follow, options }: RunParts): Promise<void> {
  if (!follow || options.only === "land") return;
  const found = await follow.forge.obstacle?.(AbortSignal.timeout(forgePatienceMs));
  if (found) throw new UserError(found.message, { hint: found.hint, code: "forge-refused" });
}

/** Every program is there, and asks the guard before its tools run: known before the first issue is touched. */
async function checkPrograms(
  programs: readonly (Agent | Reviewer)[],
  repoPath: string,
  asker: Asker | undefined,
): Promise<void> {
  for (const program of programs) {
    const missing = await program.check(repoPath);
    if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
  }
  // One after the other: what one has proven is known to the next of its kind.
  for (const program of programs) {
    const failed = await program.proveGuard?.(repoPath, asker);
    if (failed) throw new UserError(failed.message, { hint: failed.hint, code: "guard-inactive" });
  }
}

/** Finds what is missing before any agent starts, then drives. `asker`: may leave before the run has begun. */
export async function startRun(parts: RunParts, asker?: Asker): Promise<StartedRun> {
  const { only } = parts.options;
  await checkSandbox(parts);
  await checkForge(parts);
  const agents = [parts.agent, ...(parts.fallback ? [parts.fallback] : [])];
  const isJudged = only !== "land" && only !== "push";
  await checkPrograms([...(only ? [] : agents), ...(isJudged ? parts.reviewers.values() : [])], parts.repoPath, asker);
  const { home, runId, projectId, repoPath, inbox } = parts;
  startGitBySmallShells(home.root);
  prepareShims(home.root);
  const mirror = await openProjectMirror({ home, projectId, repoPath, tell: parts.warn });
  for (const line of await clearTheWay(mirror, parts.target)) parts.warn(line);
  // Before the run can be seen: a person's lock may be waited for here.
  const { behind } = await catchUpTarget(mirror, parts.target);
  const notCopied = notCopiedText(await findNotCopied({ copy: parts.settings.worktree.copy, repoPath }));
  await mkdir(home.run(runId), { recursive: true, mode: 0o700 });
  await parts.register();
  const killed = new AbortController();
  const over = new AbortController();
  const leave = new AbortController();
  const follower = parts.follow
    ? followPullRequests(parts.follow, AbortSignal.any([killed.signal, over.signal]), parts.warn)
    : null;
  const run: RunContext = {
    ...parts,
    forge: parts.follow?.forge ?? null,
    pullRequestsSeen: follower?.synced ?? Promise.resolve(),
    redact: redactor(parts.env),
    mirror,
    identity: await readIdentity(repoPath),
    slots: createSlots(parts.settings.max_agents),
    commandPlaces: createCommandPlaces(parts.settings.max_agents),
    landing: createLandingLease(),
    meter: createMeter(parts.settings.budgets.run, await parts.history.spent()),
    told: new ToldToEnd(),
    drivenUntil: await parts.history.lastStepAt(),
  };
  await sweepWorktrees(run, parts.unfinished);
  let opened = (): void => undefined;
  const isOpened = new Promise<void>((resolve) => {
    opened = resolve;
  });
  const found = [behind, notCopied].filter((text) => text !== null);
  const done = driveRun(run, killed.signal, { found, opened }).then(async (state) => {
    over.abort();
    await follower?.done;
    if (parts.follow && state.phase === "done") await settle(parts.follow, { killed, leave, warn: parts.warn });
    if (state.phase === "done") await sweepWorktrees(run, parts.unfinished);
    return { exitCode: state.exitCode ?? 130 };
  });
  return {
    runId,
    target: parts.target,
    done,
    begun: async () => void (await Promise.race([isOpened, done])),
    signal: (name) => {
      run.told.hear(name);
      // Once the run itself has ended, all that is left is what its pull requests have to be told.
      if (over.signal.aborted) leave.abort();
      else over.signal.addEventListener("abort", () => setTimeout(() => leave.abort(), leavingMs).unref());
      return inbox.send(runMachineId(runId), { name });
    },
    kill: () => killed.abort(new Error("killed")),
  };
}

/** For somebody who has asked for the end before: as long as it takes where nothing is in the way. */
const leavingMs = 5000;

interface Leaving {
  readonly killed: AbortController;
  readonly leave: AbortController;
  readonly warn: (text: string) => void;
}

/** A forge that makes us wait is not waited for by somebody who wants to go. */
async function settle(follow: FollowContext, { killed, leave, warn }: Leaving): Promise<void> {
  try {
    await settlePullRequests(follow, AbortSignal.any([killed.signal, leave.signal]), warn);
  } catch (error) {
    if (!leave.signal.aborted || killed.signal.aborted) throw error;
    warn("what pull requests were still to be told is told by the next run");
  }
}

/**
 * Worktrees for landing and for triggers belong to runs; those whose run is over go, also those that a crash left
 * behind. A run is recorded before it makes one, so runs are asked for after the folders were listed.
 */
async function sweepWorktrees(run: RunContext, unfinished: RunParts["unfinished"]): Promise<void> {
  await withLock(join(run.home.root, "locks", "landings"), () => sweepAlone(run, unfinished));
}

async function sweepAlone(run: RunContext, unfinished: RunParts["unfinished"]): Promise<void> {
  const folder = dirname(run.home.worktree(run.projectId, "_"));
  const names = namesIn(folder);
  const living = await unfinished();
  const over = (name: string, prefix: string) =>
    name.startsWith(prefix) && !living.includes(name.slice(prefix.length)) ? name.slice(prefix.length) : null;
  for (const name of names) {
    const path = join(folder, name);
    const runId = over(name, runNames("").worktree);
    if (runId !== null) {
      const { branch, item } = runNames(runId);
      await removeWorktree(run.mirror, { path, branch, issue: item, target: run.target });
    } else if (over(name, landingName("")) !== null) await removeLandingWorktree(run.mirror, path);
    else continue;
    giveBackSlotNumber(run.home.root, path);
  }
}
