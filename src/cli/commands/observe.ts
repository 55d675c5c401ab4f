import { renderBoardEvent } from "../../views/board.js";
import { boardScope, type ScopeOptions } from "../board-scope.js";
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
  const projectId = await boardScope(context, store, options);
  let shown = 0;
  for await (const event of store.observe({ since, projectId, follow: options.follow ?? false }, out.gone)) {
    if (options.json) out.jsonLine(event);
    else out.line(renderBoardEvent(event));
    // Whoever reads slowly is waited for: the board may have more events than fit into memory.
    if (++shown % pauseEvery === 0) await out.flushed();
  }
  return 0;
}
const pauseEvery = 500;
