import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { UserError } from "./errors.js";
import { pathHash } from "./path-hash.js";

/** The state home and the names of everything in it. */
export interface Home {
  readonly root: string;
  readonly database: string;
  /** Touched after each commit; watched by whoever waits for one. */
  readonly wake: string;
  readonly log: string;
  /** What whoever asks `ratchet serve` must show. */
  readonly serveToken: string;
  mirror(projectId: string): string;
  worktree(projectId: string, name: string): string;
  /** Who opens an issue's worktree, puts it aside or brings it back. */
  worktreeLock(projectId: string, name: string): string;
  run(runId: string): string;
  runLog(runId: string): string;
  /** `issueId` null: the run's own. */
  attempt(runId: string, issueId: string | null, folder: string): string;
  /** Whose turn it is with an exclusive command of that name. */
  commandLock(name: string): string;
  /** What was seen of a pull request. */
  pullRequest(projectId: string, number: number): string;
  /** Every folder in it, and those of a project: whoever makes another one names it there. */
  folders(projectId?: string): string[];
}

const names = [
  ...["repos", "worktrees", "runs", "locks", "slots", "pull-requests"],
  ...["forge", "beads-claims", "beads-calls"],
];
const projectNames = ["worktrees", "pull-requests", "forge"];

/** Of one that no repository can be in nothing begins. */
export function ratchetHome(env: NodeJS.ProcessEnv): Home {
  const root = resolve(env.RATCHET_HOME || join(homedir(), ".ratchet"));
  if (root.includes("\n")) {
    throw new UserError(`the state home ${JSON.stringify(root)} cannot be used: git reads its path as two lines`, {
      hint: "set RATCHET_HOME to a folder without a line break in its path",
      code: "state-home",
    });
  }
  return {
    root,
    database: join(root, "ratchet.db"),
    wake: join(root, "wake"),
    log: join(root, "ratchet.log"),
    serveToken: join(root, "serve-token"),
    mirror: (projectId) => join(root, "repos", `${safeName(projectId)}.git`),
    worktree: (projectId, name) => join(root, "worktrees", safeName(projectId), name),
    run: (runId) => join(root, "runs", runId),
    runLog: (runId) => join(root, "runs", runId, "run.log"),
    attempt: (runId, issueId, folder) =>
      join(root, "runs", runId, issueId === null ? runLevel : safeName(issueId), folder),
    worktreeLock: (projectId, name) =>
      join(root, "locks", `worktree-${pathHash(join(safeName(projectId), name)).slice(0, 16)}`),
    commandLock: (name) => join(root, "locks", `command-${safeName(name)}`),
    pullRequest: (projectId, number) => join(root, "pull-requests", safeName(projectId), String(number)),
    folders: (projectId) => [
      ...names.map((name) => join(root, name)),
      ...(projectId === undefined ? [] : projectNames.map((name) => join(root, name, safeName(projectId)))),
    ],
  };
}

/** What a run itself has is kept under this name, beside its issues. */
export const runLevel = "_run";

/** What else is beside them. */
const ofRun = ["run.log", "workflow.json", "_questions", "landing-ready"];
/** No file system takes more than 255, and endings come with it. */
const longest = 200;

/**
 * An id as a file or ref name: what git or the file system would misread becomes "-", what is long is cut, and that or a
 * run's own name is told apart by a hash of the id.
 */
export function safeName(id: string): string {
  const safe = id
    .replace(/[^A-Za-z0-9._-]/g, "-")
    .replace(/\.\.+/g, "-")
    .replace(/^\.|^_(?=run$)/, "-")
    .replace(/\.lock/g, "-")
    .replace(/\.$/, "-");
  const isShort = safe.length <= longest;
  if (safe === id && id !== "" && isShort && !ofRun.includes(id.toLowerCase())) return id;
  // Loading it takes longer than most commands, and most names need none of it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const hash = createHash("sha256").update(id).digest("hex");
  return `${safe.slice(0, longest)}-${hash.slice(0, isShort ? 6 : 16)}`;
}
