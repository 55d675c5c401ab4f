import type { Store } from "../../app.js";
import { renderBoardEvent } from "../../views/board.js";
import { boardScope, type ScopeOptions, unknownYet } from "../board-scope.js";
import type { Context } from "../context.js";
import { parseSince } from "../parse-since.js";

export interface ObserveOptions extends ScopeOptions {
  readonly since?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** What happened on the board, then with --follow what happens, until nobody reads any more. */
export async function observe(context: Context, options: ObserveOptions): Promise<number> {
  const { app, out } = context;
  const since = options.since === undefined ? null : parseSince("--since", options.since, Date.now());
  const store = await app.store("reader");
  const scope = await boardScope(context, store, options);
  const follow = options.follow ?? false;
  if (scope.type === "unknown") {
    out.note(unknownYet(scope.root));
    if (!follow) return 0;
    out.note("waiting for it to become one");
  }
  const projectId = scope.type === "project" ? scope.id : null;
  const isMeant = scope.type === "unknown" ? projectAtLast(store, scope.root) : null;
  let shown = 0;
  for await (const event of store.observe({ since, projectId, follow }, out.gone)) {
    if (isMeant !== null && !(await isMeant(event.project_id))) continue;
    if (options.json) out.jsonLine(event);
    else out.line(renderBoardEvent(event));
    // Whoever reads slowly is waited for: the board may have more events than fit into memory.
    if (++shown % pauseEvery === 0) await out.flushed();
  }
  return 0;
}

/** Whether an event is the repository's own, once that is a project. */
function projectAtLast(store: Store, root: string): (projectId: string) => Promise<boolean> {
  let own: string | null = null;
  return async (projectId) => {
    own ??= (await store.projectAt(root))?.id ?? null;
    return own === projectId;
  };
}

const pauseEvery = 500;
