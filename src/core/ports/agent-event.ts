import type { TurnOutcome, Usage } from "../issue/events.js";

/** What an agent does, whoever's program it is: one stream for budgets, people and pages. */
export type AgentEvent =
  /** Said as soon as the program has told it. */
  | { readonly type: "session"; readonly id: string }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: "tool-result"; readonly id: string; readonly text: string; readonly failed: boolean }
  /** Of this turn so far: it replaces what was said before. Input counts cached tokens too. */
  | { readonly type: "usage"; readonly usage: Usage }
  | { readonly type: "permission-denied"; readonly tool: string; readonly reason: string }
  | { readonly type: "rate-limited"; readonly until: number | null; readonly reason: string }
  /** The program's own word on how the turn went; the last one counts. */
  | { readonly type: "finished"; readonly outcome: TurnOutcome };

/** Turns the program's lines into events, one after the other. Foreign lines are no events and never an exception. */
export interface StreamReader {
  line(text: string): readonly AgentEvent[];
  /** By its beginning: `line` needs no more of it. For lines that repeat at length what others have said. */
  isEnough?(beginning: string): boolean;
}

/** Tool results and diffs come as one line; what is longer is no line of an agent's stream. */
export const longestStreamLine = 16 * 1024 * 1024;

/** How the lines of a stream are read for its reader. */
export function linesFor({ isEnough }: StreamReader) {
  return { longest: longestStreamLine, ...(isEnough ? { isEnough } : {}) };
}

/** A turn's stream, folded. */
export interface StreamSummary {
  readonly sessionId: string | null;
  readonly usage: Usage | null;
  /** null: the program never said how the turn went. */
  readonly outcome: TurnOutcome | null;
}

export const nothingRead: StreamSummary = { sessionId: null, usage: null, outcome: null };

export function foldEvent(summary: StreamSummary, event: AgentEvent): StreamSummary {
  switch (event.type) {
    case "session":
      return { ...summary, sessionId: event.id };
    case "usage":
      return { ...summary, usage: event.usage };
    case "finished":
      return { ...summary, outcome: event.outcome };
    default:
      return summary;
  }
}
