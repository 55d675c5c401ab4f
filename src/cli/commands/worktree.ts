import { Refusal } from "../../lib/errors.js";
import { renderColumns } from "../../views/columns.js";
import type { Context } from "../context.js";
import { findLiving } from "../living.js";
import { roomOf } from "../room.js";

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
    for (const line of renderColumns(columns, rows, await roomOf(out))) out.line(line);
    for (const { name, aside } of views) {
      for (const path of aside) out.line(`${name}: files that were in its way are kept in ${path}`);
    }
  }
  return 0;
}

export async function parkWorktree(context: Context, issue: string, { json }: Json): Promise<number> {
  await mustBeIdle(context, issue);
  const { path, ref } = await (await context.app.worktrees()).park(issue);
  if (json) context.out.json({ issue_id: issue, path, ref });
  else if (ref === null) context.out.line(`${issue} had nothing to put aside; its worktree is removed`);
  else context.out.line(`${issue} is put aside as ${ref}; ratchet worktree restore ${issue} brings it back`);
  return 0;
}

export async function restoreWorktree(context: Context, issue: string, { json }: Json): Promise<number> {
  await mustBeIdle(context, issue);
  const { path, ref, parked } = await (await context.app.worktrees()).restore(issue);
  if (json) context.out.json({ issue_id: issue, path, ref, parked });
  else {
    context.out.line(`${issue} is back in ${path}`);
    if (parked !== null) context.out.line(`what was there before is put aside as ${parked}`);
  }
  return 0;
}

/** Nobody's checkout is taken from under a running agent. */
async function mustBeIdle({ app }: Context, issue: string): Promise<void> {
  const project = await app.project();
  const living = await findLiving(await app.store(), project.id, issue);
  if (living === null) return;
  throw new Refusal(`run ${living.runId} is at work on ${issue}`, { hint: `ratchet stop ${issue}` });
}
