import { plainText, shownName } from "../../core/plain-text.js";
import type { IssueRecord } from "../../core/record.js";
import { Refusal } from "../../lib/errors.js";
import type { Context } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
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
    const names = await worktrees.changed(issue, known);
    if (names === null) throw await refusalOf(context, issue, record !== null);
    for (const name of names) out.line(shownName(name));
    return 0;
  }
  const patch = await worktrees.diff(issue, known, { binary: !out.isTerminal });
  if (patch === null) throw await refusalOf(context, issue, record !== null);
  if (!out.isTerminal) out.bytes(patch);
  // A line at a time: what begins a control sequence on one line must not take others with it.
  else out.text(patch.toString("utf8").split("\n").map(plainText).join("\n"));
  return 0;
}

function basesOf(record: IssueRecord | null): string[] {
  return [record?.unmerged, record?.review_base, record?.base_sha].filter((base) => typeof base === "string");
}

async function refusalOf(context: Context, issue: string, hasRecord: boolean): Promise<Refusal> {
  const { app } = context;
  const project = await app.project();
  const item = await (await app.store()).workItems.get(project.id, issue);
  if (!hasRecord && item === null && (await foreignTracker(context)) === null) {
    return new Refusal(`no issue ${typed(issue)} in ${project.id}`, {
      code: "not-found",
      hint: "ratchet work list --all",
    });
  }
  if (!hasRecord && item?.status === "completed") {
    return new Refusal(
      `nothing here tells any more what ${issue} has changed: it is completed, and no run of it is kept`,
      {
        code: "not-found",
        hint: "git log shows what has landed",
      },
    );
  }
  return new Refusal(`${issue} has not changed anything yet`, { code: "not-found" });
}
