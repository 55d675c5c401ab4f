import type { Store } from "../../app.js";
import { jsonText } from "../../lib/json-text.js";
import { toWorkItemJson } from "../../views/work.js";
import { boardScope } from "../board-scope.js";
import type { Context } from "../context.js";
import type { Output } from "../output.js";

/** The whole board as one JSON document, written piece by piece: memory does not grow with it. */
export async function exportBoard(context: Context, { project }: { readonly project?: string }): Promise<number> {
  const { app, out } = context;
  const store = await app.store("reader");
  const scope = await boardScope(context, store, { all: true, ...(project !== undefined && { project }) });
  const projects = (await store.projects()).filter(({ id }) => scope.type !== "project" || id === scope.id);
  const named = projects.map(({ id, repoPath }) => ({ project_id: id, repo_path: repoPath }));
  out.piece(`{\n"format": "ratchet-board",\n"version": 1,\n"exported_at": "${new Date().toISOString()}",\n`);
  out.piece(`"projects": ${jsonText(named)},\n"items": [`);
  const ids = projects.map(({ id }) => id);
  await writeAll(out, itemsOf(store, ids));
  out.piece('],\n"events": [');
  await writeAll(out, eventsOf(store, ids, out.gone));
  out.piece("]\n}\n");
  return 0;
}

async function* itemsOf(store: Store, projectIds: readonly string[]): AsyncGenerator<unknown> {
  for (const projectId of projectIds) {
    for await (const item of store.exportItems(projectId)) {
      yield {
        project_id: projectId,
        ...toWorkItemJson(item),
        lease_until: item.leaseUntil === null ? null : new Date(item.leaseUntil).toISOString(),
        created_at: new Date(item.createdAt).toISOString(),
        updated_at: new Date(item.updatedAt).toISOString(),
      };
    }
  }
}

/** Of a removed project neither items nor events are told. */
async function* eventsOf(store: Store, projectIds: readonly string[], gone: AbortSignal): AsyncGenerator<unknown> {
  const wanted = new Set(projectIds);
  for await (const event of store.observe({ since: null, projectId: null, follow: false }, gone)) {
    if (wanted.has(event.project_id)) yield event;
  }
}

const pauseEvery = 200;

async function writeAll(out: Output, values: AsyncIterable<unknown>): Promise<void> {
  let written = 0;
  for await (const value of values) {
    if (out.gone.aborted) return;
    out.piece(`${written === 0 ? "" : ","}\n${jsonText(value)}`);
    if (++written % pauseEvery === 0) await out.flushed();
  }
}
