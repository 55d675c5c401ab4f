import type { AgentEvent } from "../core/ports/agent-event.js";
import { toSessionId } from "../core/session-id.js";

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * A session as claude and codex may be asked for it. Anything but an id is a name to them, which may be that of another
 * session, or of none: then codex begins a new one without a word. Asked for an id that nobody has, both say so.
 */
export function idToResume(session: string): string {
  return uuid.test(session) ? session : "00000000-0000-0000-0000-000000000000";
}

/** The event of a stream's word for its session; none where that could not be asked for again. */
export function sessionTold(value: unknown): AgentEvent[] {
  const id = toSessionId(value);
  return id === null ? [] : [{ type: "session", id }];
}
