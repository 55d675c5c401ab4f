import { plainText, shownName } from "../../core/plain-text.js";
import type { IssueRecord } from "../../core/record.js";
import { Refusal } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
import type { Output } from "../output.js";
import { typed } from "../typed.js";

/** Against the commit the issue started from; uncommitted changes in its worktree included. */
export async function showDiff(
  context: Context,
  issue: string,
  { stat }: { readonly stat?: boolean },
): Promise<number> {
  const { app, out } = context;
  const record = (await (await app.store()).lastRecord((await app.project()).id, issue))?.record ?? null;
  const known = { bases: basesOf(record), head: record?.commit ?? null };
  const worktrees = await app.worktrees();
  if (stat) {
    const found = await worktrees.changed(issue, known);
    if (found === null) throw await refusalOf(context, issue, record);
    for (const name of found.names) out.line(shownName(name));
    tellNested(found.nested, out);
    return 0;
  }
  const found = await worktrees.diff(issue, known, { binary: !out.isTerminal });
  if (found === null) throw await refusalOf(context, issue, record);
  if (!out.isTerminal) out.bytes(found.patch);
  // A line at a time: what begins a control sequence on one line must not take others with it.
  else out.text(found.patch.toString("utf8").split("\n").map(plainText).join("\n"));
  tellNested(found.nested, out);
  return 0;
}

function tellNested(nested: readonly Uint8Array[], out: Output): void {
  for (const name of nested) out.note(`ratchet: ${shownName(name)} is a repository of its own, and is not shown`);
}

function basesOf(record: IssueRecord | null): string[] {
  return [record?.unmerged, record?.review_base, record?.base_sha].filter((base) => typeof base === "string");
}

async function refusalOf(context: Context, issue: string, record: IssueRecord | null): Promise<Refusal> {
  const { app } = context;
  const hasRecord = record !== null;
  const project = await app.project();
  const item = await (await app.store()).workItems.get(project.id, issue);
  if (!hasRecord && item === null && (await foreignTracker(context)) === null) {
    return new Refusal(`no issue ${typed(issue)} in ${project.id}`, {
      code: "not-found",
      hint: "ratchet work list --all",
    });
  }
  // Of another tracker's issue nobody here knows whether it has landed.
  if (!hasRecord && (item === null || item.status === "completed")) {
    return new Refusal(`nothing here tells what ${issue} has changed: no run of it is kept`, {
      code: "not-found",
      hint: "git log shows what has landed",
    });
  }
  // It may have changed something: what refs that are lost had is not known.
  if (record?.worktree_path && record.base_sha !== null && record.status !== "success") {
    return new Refusal(
      `nothing is left to show of the work on ${issue}: it has no worktree, no branch and nothing parked`,
      {
        code: "not-found",
        hint: "what was put aside for good: ratchet worktree list",
      },
    );
  }
  return new Refusal(`${issue} has not changed anything yet`, { code: "not-found" });
}
