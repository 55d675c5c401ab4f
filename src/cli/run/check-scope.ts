import type { Project, Store } from "../../app.js";
import type { WorkItem } from "../../core/ports/work-items.js";
import { Refusal } from "../../lib/errors.js";
import type { Context } from "../context.js";
import type { Wanted } from "./request.js";

interface Board {
  readonly store: Store;
  readonly project: Project;
}

/** Ids that do not exist are refused; those that cannot start now are told, one line each, with the reason. */
export async function checkScope({ app, out }: Context, wanted: Wanted): Promise<void> {
  const { scope } = wanted;
  if (scope.type !== "ids" && scope.type !== "epic") return;
  const board = { project: await app.project(), store: await app.store() };
  const items = await readAll(board, scope.type === "ids" ? scope.ids : [scope.epic]);
  if (scope.type === "epic") return;
  for (const item of items) {
    const reason = await reasonAgainst(board, item, wanted);
    if (reason !== null) out.note(`${item.id} is not ready: ${reason}`);
  }
}

async function readAll({ store, project }: Board, ids: readonly string[]): Promise<WorkItem[]> {
  const found = await Promise.all(ids.map(async (id) => ({ id, item: await store.workItems.get(project.id, id) })));
  const unknown = found.filter(({ item }) => item === null).map(({ id }) => id);
  if (unknown.length > 0) {
    throw new Refusal(`no issue ${unknown.join(", ")} in ${project.id}`, {
      code: "not-found",
      hint: "ratchet work list shows the issues; ratchet work add makes one",
    });
  }
  return found.flatMap(({ item }) => (item === null ? [] : [item]));
}

async function reasonAgainst(
  { store, project }: Board,
  item: WorkItem,
  { scope, resume }: Wanted,
): Promise<string | null> {
  const { id, status, type } = item;
  if (type === "epic") return `it is an epic, use --scope epic:${id}`;
  switch (status) {
    case "completed":
      return "completed";
    case "failed":
      return resume ? null : `failed, use --resume or ratchet retry ${id}`;
    case "claimed":
      return `claimed by ${item.leaseUntil === null ? "run " : ""}${item.claimedBy ?? "somebody"}`;
    case "blocked":
      return `blocked${item.failureReason ? ` (${item.failureReason})` : ""}, use ratchet work unblock ${id}`;
    case "quarantined":
    case "waiting_for_response":
      return `${status}, use ratchet retry ${id}`;
    case "available":
      break;
  }
  const chosen = scope.type === "ids" ? scope.ids : [];
  const deps = await Promise.all(item.deps.map((dep) => store.workItems.get(project.id, dep)));
  const missing = deps.flatMap((dep) =>
    dep && dep.status !== "completed" && !chosen.includes(dep.id) ? [dep.id] : [],
  );
  return missing.length === 0 ? null : `blocked by ${missing.join(", ")}`;
}
