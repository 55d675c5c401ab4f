import { Refusal } from "../../lib/errors.js";
import { plainText, shownName } from "../../views/plain-text.js";
import type { Context } from "../context.js";
import { typed } from "../typed.js";

/** Against the commit the issue started from; uncommitted changes in its worktree included. */
export async function showDiff(
  { app, out }: Context,
  issue: string,
  { stat }: { readonly stat?: boolean },
): Promise<number> {
  const project = await app.project();
  const store = await app.store();
  const record = (await store.lastRecord(project.id, issue))?.record ?? null;
  if (record === null && (await store.workItems.get(project.id, issue)) === null) {
    throw new Refusal(`no issue ${typed(issue)} in ${project.id}`, {
      code: "not-found",
      hint: "ratchet work list --all",
    });
  }
  const known = { base: record?.review_base ?? record?.base_sha ?? null, head: record?.commit ?? null };
  const worktrees = await app.worktrees();
  if (stat) {
    for (const name of await worktrees.changed(issue, known)) out.line(shownName(name));
    return 0;
  }
  const patch = await worktrees.diff(issue, known);
  // A line at a time: what begins a control sequence on one line must not take others with it.
  out.text(out.isTerminal ? patch.split("\n").map(plainText).join("\n") : patch);
  return 0;
}
