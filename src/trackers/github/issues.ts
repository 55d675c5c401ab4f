import { unknownSource } from "../../core/follow-up.js";
import { markersIn } from "../../core/marker.js";
import type { Issue, ItemStatus } from "../../core/ports/tracker.js";
import { ExternalError } from "../../lib/errors.js";
import type { Github } from "../../lib/github-client/client.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { readIssue, readLabels, type WireIssue, type WireLabel } from "./wire.js";

/** Labels tell people and other programs what became of an issue; `stopped` keeps what a run had begun ahead of what is new. */
export const labels = {
  claimed: "in-progress",
  failed: "needs-followup",
  escalated: "human-review",
  stopped: "ratchet-stopped",
  followUp: "review-followup",
  epic: "epic",
  /** Put on an issue by somebody who may: then it is work, whoever wrote it. */
  admitted: "ratchet",
} as const;

/** An issue with what its labels and its text say. */
export interface Found {
  readonly wire: WireIssue;
  readonly id: string;
  readonly isOpen: boolean;
  readonly isPull: boolean;
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
  readonly parent: string | null;
  readonly deps: readonly string[];
  /** How many open issues GitHub itself knows to block it. */
  readonly blockedBy: number;
}

export function toFound(wire: WireIssue): Found {
  const body = wire.body ?? "";
  const parent =
    /\/issues\/(\d+)$/.exec(wire.parent_issue_url ?? "")?.[1] ?? /^Parent:[ \t]*#(\d+)\b/im.exec(body)?.[1];
  return {
    wire,
    id: String(wire.number),
    isOpen: wire.state === "open",
    isPull: wire.pull_request != null,
    labels: namesOf(wire.labels),
    assignees: (wire.assignees ?? []).map(({ login }) => login),
    parent: parent ?? null,
    deps: dependenciesIn(body),
    blockedBy: wire.issue_dependencies_summary?.blocked_by ?? 0,
  };
}

function namesOf(given: readonly WireLabel[]): string[] {
  return given.flatMap((label) => (typeof label === "string" ? label : (label.name ?? [])));
}

/** Lines `Depends on #1` or `Depends on: #1, #2`; the same in a list. */
function dependenciesIn(body: string): string[] {
  const lines = body.matchAll(
    /^[ \t]*(?:[-*][ \t]+)?(?:Depends on|Blocked by):?[ \t]+(#\d+(?:(?:,| and|,? and)?[ \t]+#\d+)*)/gim,
  );
  const numbers = [...lines].flatMap(([, list = ""]) => [...list.matchAll(/#(\d+)/g)].map(([, number = ""]) => number));
  return [...new Set(numbers)];
}

export function toIssue(found: Found): Issue {
  const { wire, id, parent, deps } = found;
  return {
    id,
    title: wire.title,
    body: wire.body ?? "",
    type: isEpic(found) ? "epic" : "task",
    parent,
    deps,
    priority: priorityOf(found),
    status: statusOf(found),
    followUpOf: followedBy(found),
    changedAt: Date.parse(wire.updated_at),
  };
}

export function isEpic({ labels: given }: Found): boolean {
  return given.includes(labels.epic);
}

/** The most urgent that is given. */
export function priorityOf({ labels: given }: Found): number {
  const levels = given.flatMap((label) => /^P([0-3])$/i.exec(label)?.[1] ?? []).map(Number);
  return levels.length === 0 ? 2 : Math.min(...levels);
}

export function statusOf({ isOpen, labels: given }: Found): ItemStatus {
  if (!isOpen) return "completed";
  if (given.includes(labels.claimed)) return "claimed";
  if (given.includes(labels.escalated)) return "waiting_for_response";
  return given.includes(labels.failed) ? "failed" : "available";
}

/** Hidden in the text of a follow-up: whose findings it collects. */
export function followUpMark(source: string): string {
  return `<!-- ratchet:follow-up-of:${encodeURIComponent(source)} -->`;
}

/** Anybody may write such a mark: one that is none of ours says nothing. A text that was written anew has none: the label tells. */
function followedBy({ wire, labels: given }: Found): string | null {
  const prefix = "follow-up-of:";
  const mark = markersIn(wire.body ?? "").find((key) => key.startsWith(prefix));
  if (mark !== undefined) return mark.slice(prefix.length);
  return given.includes(labels.followUp) ? unknownSource : null;
}

/** null: there is none, or it is a pull request. */
export async function findIssue(github: Github, id: string): Promise<Found | null> {
  const found = await lookUp(github, id);
  return found === null || found.isPull ? null : found;
}

/** An issue or a pull request: they share their numbers. */
export async function lookUp(github: Github, id: string): Promise<Found | null> {
  const number = /^#?(\d{1,15})$/.exec(id)?.[1];
  if (number === undefined) return null;
  try {
    const call = { route: "GET /repos/{owner}/{repo}/issues/{issue_number}", with: { issue_number: Number(number) } };
    const found = toFound(await github.get(call, readIssue));
    // One that was moved to another repository is answered from there.
    return found.id === number ? found : null;
  } catch (error) {
    if (error instanceof GithubError && (error.status === 404 || error.status === 410)) return null;
    throw error;
  }
}

export async function listIssues(
  github: Github,
  filter: { readonly state: "open" | "all"; readonly labels?: string },
): Promise<Found[]> {
  const call = { route: "GET /repos/{owner}/{repo}/issues", with: { ...filter, sort: "created", direction: "asc" } };
  return (await github.list(call, readIssue)).map(toFound);
}

export async function changeIssue(
  github: Github,
  id: string,
  change: Readonly<Record<string, unknown>>,
): Promise<void> {
  const route = "PATCH /repos/{owner}/{repo}/issues/{issue_number}";
  const { state } = readIssue(await github.send({ route, with: { issue_number: Number(id), ...change } }));
  if (change.state !== undefined && change.state !== state) throw unheard(`#${id} is ${state} still`);
}

/** An answer that shows no change is no success: what was told has to be told again. */
function unheard(what: string): ExternalError {
  return new ExternalError("tracker", `GitHub answers success and changes nothing: ${what}`, { retryable: true });
}

export async function addLabels(github: Github, id: string, given: readonly string[]): Promise<void> {
  const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/labels";
  const answer = await github.send({ route, with: { issue_number: Number(id), labels: given }, repeatable: true });
  // It knows a label in any case of its letters.
  const now = namesOf(readLabels(answer)).map((name) => name.toLowerCase());
  const missing = given.find((name) => !now.includes(name.toLowerCase()));
  if (missing !== undefined) throw unheard(`#${id} has no label ${missing}`);
}

/** Of those it has; one that somebody else took off meanwhile is off. */
export async function removeLabels(github: Github, found: Found, unwanted: readonly string[]): Promise<void> {
  const route = "DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}";
  for (const name of unwanted.filter((label) => found.labels.includes(label))) {
    try {
      await github.send({ route, with: { issue_number: Number(found.id), name } });
    } catch (error) {
      if (!(error instanceof GithubError && error.status === 404)) throw error;
    }
  }
}

export async function setAssignee(github: Github, id: string, login: string, isOn: boolean): Promise<void> {
  const route = `${isOn ? "POST" : "DELETE"} /repos/{owner}/{repo}/issues/{issue_number}/assignees`;
  await github.send({ route, with: { issue_number: Number(id), assignees: [login] }, repeatable: true });
}
