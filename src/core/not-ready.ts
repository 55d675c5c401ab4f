import type { Issue, ItemStatus, Standing, Tracker } from "./ports/tracker.js";
import type { WorkItem, WorkItems } from "./ports/work-items.js";

/** What is known of an issue that was named, on the local board or in another tracker. */
export interface Named {
  readonly issue: Issue;
  readonly item: Pick<WorkItem, "claimedBy" | "leaseUntil" | "failureReason"> | null;
  readonly standing: Standing | null;
}

interface Around {
  readonly tracker: Pick<Tracker, "kind" | "standing">;
  readonly board: Pick<WorkItems, "get">;
  readonly projectId: string;
}

export async function lookAtNamed({ tracker, board, projectId }: Around, issue: Issue): Promise<Named> {
  if (tracker.kind === "local") return { issue, item: await board.get(projectId, issue.id), standing: null };
  return { issue, item: null, standing: (await tracker.standing?.(issue.id)) ?? null };
}

/** Done, or claimed by a run, which others work along with. What a person has claimed is not done by any of them. */
export function isCaredFor({ issue: { status }, item, standing }: Named): boolean {
  if (status !== "claimed") return status === "completed";
  return item === null ? standing?.obstacle == null : item.leaseUntil == null;
}

/** An issue whose work is on a branch of its own instead of the target. */
export interface OnBranch {
  readonly id: string;
  readonly branch: string;
}

export function unmergedReason({ id, branch }: OnBranch): string {
  return `${id} is on ${branch} and not merged yet`;
}

/** What is left out is nothing against it. */
interface Asked {
  readonly resume: boolean;
  /** The runs that are continued first: what they hold is no obstacle. */
  readonly left?: readonly string[];
  /** The tracker is to be told that it is free, before anything is taken. */
  readonly isFreed?: boolean;
  /** Of what it depends on, what is not done, and what is done on a branch that nobody has merged. */
  readonly missing?: readonly string[];
  readonly unmerged?: readonly OnBranch[];
  /** Nobody has worked on it, and nothing but that is wanted. */
  readonly isUntouched?: boolean;
  readonly isStopped?: boolean;
}

/** `about`: what has to be landed, or what the tracker says to do. */
export interface NotReady {
  readonly why: ItemStatus | "epic" | "obstacle" | "missing" | "unmerged" | "untouched" | "stopped";
  readonly reason: string;
  readonly about?: string;
}

/** Why a run does not take it; null: it does. Before a run it is told with what to do, at its end the reason alone. */
export function whyNotReady({ issue, item, standing }: Named, asked: Asked): NotReady | null {
  const { resume, left = [], isFreed = false, missing = [], unmerged: [first] = [] } = asked;
  const { type, status } = issue;
  if (type === "epic") return { why: "epic", reason: "it is an epic" };
  if (status === "blocked" && item?.failureReason) return { why: status, reason: `${status} (${item.failureReason})` };
  const isOpen = status === "available" || status === "claimed" || (resume && status === "failed");
  if (!isOpen) return { why: status, reason: status };
  const holder = item?.claimedBy ?? standing?.claim?.holder;
  const isLeft = isFreed || left.includes(holder ?? "");
  const obstacle = isLeft ? null : standing?.obstacle;
  if (obstacle) return { why: "obstacle", reason: obstacle.reason, about: obstacle.next };
  const isTaken = status === "claimed" && !isLeft;
  if (isTaken && item) return { why: status, reason: `claimed by ${item.leaseUntil == null ? "run " : ""}${holder}` };
  // A resume takes claims of runs that are over; only the tracker can tell whose they are.
  if (isTaken && !resume) return { why: status, reason: "in progress" };
  if (missing.length > 0) return { why: "missing", reason: `blocked by ${missing.join(", ")}` };
  if (first) return { why: "unmerged", reason: unmergedReason(first), about: first.id };
  if (asked.isUntouched) return { why: "untouched", reason: "nobody has worked on it yet" };
  return asked.isStopped ? { why: "stopped", reason: "it was stopped" } : null;
}
