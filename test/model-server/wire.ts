import type { Fields } from "./json.js";

/** One event of a stream, `event: … data: …`. */
export interface StreamEvent {
  /** "": it has no name. */
  readonly event: string;
  readonly data: Fields;
}

/** An answer that is not a model's. */
export interface Failure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Fields;
}
