import { ExternalError, Refusal } from "../../lib/errors.js";
import { safeName } from "../../lib/home.js";
import { renderColumns } from "../../views/columns.js";
import { mirrorAdvice } from "../../views/mirror-advice.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";
import { findUse, withUnused } from "../worktree-use.js";

interface Json {
  readonly json?: boolean;
}

const columns = [
  { title: "ISSUE", least: 6 },
  { title: "BRANCH", least: 8 },
  { title: "HEAD", drop: 1 },
  { title: "PARKED", align: "right" },
  { title: "PATH", least: 12 },
] as const;

export async function listWorktrees({ app, out }: Context, { json }: Json): Promise<number> {
  const views = await (await app.worktrees()).list();
  if (json) {
    out.json(views.map(({ name, ...view }) => ({ issue: name, ...view, path: view.path || null })));
    return 0;
  }
  if (views.length === 0) out.line("No worktrees.");
  else {
    const rows = views.map(({ name, branch, head, parked, path, present }) => [
      name,
      branch ?? "-",
      head?.slice(0, 12) ?? "-",
      String(parked.length),
      present ? path : "-",
    ]);
    for (const line of renderColumns(columns, rows, await roomOf(out, rows))) out.line(line);
    for (const { name, head, present, aside } of views) {
      if (present && head === null) out.line(`${name}: its git folder is gone or damaged: ${mirrorAdvice}`);
      for (const path of aside) out.line(`${name}: files that were in its way are kept in ${path}`);
    }
  }
  return 0;
}

export async function parkWorktree(context: Context, issue: string, { json }: Json): Promise<number> {
  const { path, ref } = await withUnused(context, issue, (worktrees) => worktrees.park(issue));
  if (json) context.out.json({ issue_id: issue, path, ref });
  else if (ref === null) context.out.line(`${issue} had nothing to put aside; its worktree is removed`);
  else context.out.line(`${issue} is put aside as ${ref}; ratchet worktree restore ${issue} brings it back`);
  return 0;
}

export async function restoreWorktree(context: Context, issue: string, { json }: Json): Promise<number> {
  const { path, ref, parked } = await withUnused(context, issue, (worktrees) => worktrees.restore(issue));
  if (json) context.out.json({ issue_id: issue, path, ref, parked });
  else {
    context.out.line(`${issue} is back in ${path}`);
    if (parked !== null) context.out.line(`what was there before is put aside as ${parked}`);
  }
  return 0;
}

interface Cleaned {
  readonly issue_id: string;
  readonly path: string;
  readonly removed: boolean;
  /** Where it was put aside; null: it was not. */
  readonly ref: string | null;
  /** Why it is still there. */
  readonly kept: string | null;
}

/** Removes every worktree that nobody works in, parking first what is nowhere else. One that cannot be removed holds up no other. */
export async function cleanWorktrees(
  context: Context,
  { dryRun = false, json = false }: Json & { readonly dryRun?: boolean },
): Promise<number> {
  const worktrees = await context.app.worktrees();
  const cleaned: Cleaned[] = [];
  let hasFailed = false;
  for (const { name, path } of (await worktrees.list()).filter((view) => view.path !== "")) {
    // Asked of each when its turn comes: a run may have taken it up meanwhile.
    const inUse = await whyKept(context, name);
    const result = inUse !== null || dryRun ? { ref: null, kept: inUse } : await removeOne(context, name);
    // Somebody else has put it aside meanwhile.
    if (result === null) continue;
    hasFailed ||= inUse === null && result.kept !== null;
    cleaned.push({ issue_id: name, path, removed: result.kept === null && !dryRun, ...result });
  }
  if (json) context.out.json({ dry_run: dryRun, worktrees: cleaned });
  else for (const line of cleanLines(cleaned, dryRun)) context.out.line(line);
  return hasFailed ? 1 : 0;
}

/** An open pull request goes on in its issue's worktree. */
async function whyKept(context: Context, name: string): Promise<string | null> {
  const { id } = await context.app.project();
  const waiting = await (await context.app.store()).workItems.inPullRequests(id);
  const item = waiting.find((one) => safeName(one.id) === name);
  if (item !== undefined) return `it waits for pull request #${item.payload?.pr_number ?? "?"}`;
  return (await findUse(context, name))?.why ?? null;
}

/** null: it is gone already. */
async function removeOne(context: Context, name: string): Promise<Pick<Cleaned, "ref" | "kept"> | null> {
  try {
    return { ref: (await withUnused(context, name, (worktrees) => worktrees.park(name))).ref, kept: null };
  } catch (error) {
    if (error instanceof Refusal && error.code === "not-found") return null;
    if (!(error instanceof ExternalError || error instanceof Refusal)) throw error;
    return { ref: null, kept: error.message };
  }
}

function cleanLines(cleaned: readonly Cleaned[], isDryRun: boolean): string[] {
  if (cleaned.length === 0) return ["No worktrees to remove."];
  return cleaned.map(({ issue_id: issue, path, ref, kept }) => {
    if (kept !== null) return `kept ${issue}: ${kept}`;
    if (isDryRun) return `would remove ${issue}, and put aside first what is nowhere else: ${path}`;
    return ref === null
      ? `removed ${issue}, which had nothing to put aside`
      : `removed ${issue}, put aside as ${ref}; ratchet worktree restore ${issue} brings it back`;
  });
}
