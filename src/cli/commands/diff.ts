import { Refusal } from "../../lib/errors.js";
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
  const patch = await (await app.worktrees()).diff(issue, known);
  out.text(stat ? filesIn(patch) : patch);
  return 0;
}

function filesIn(patch: string): string {
  const files = patch.split("\n").flatMap((line) => /^diff --git a\/.* b\/(.*)$/.exec(line)?.[1] ?? []);
  return files.map((file) => `${file}\n`).join("");
}
