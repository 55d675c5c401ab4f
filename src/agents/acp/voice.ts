import type { TurnOutcome } from "../../core/issue/events.js";
import { outcomeOfError } from "../error-words.js";
import { loginAdvice } from "./failure.js";

/** Known to give an id to what the model says, and none to what it says itself. */
const speaksApart = /codex-acp/;

/**
 * Who had the last word. codex-acp tells some errors as a message of its own and then ends the turn as if all were well;
 * what the model says has a message id there. A turn whose last word is such an error has not ended.
 */
export class Voice {
  #isApart: boolean;
  #ownWords = "";
  #modelSpoke = false;

  constructor(program: string) {
    this.#isApart = speaksApart.test(program);
  }

  spoke(text: string, hasId: boolean): void {
    this.#isApart ||= hasId;
    this.#ownWords = hasId
      ? ""
      : (text
          .trim()
          .split(/\n{2,}/)
          .at(-1) ?? "");
    this.#modelSpoke ||= hasId;
  }

  /** A tool ran: whoever speaks then speaks of what comes after it. */
  acted(): void {
    this.#ownWords = "";
    this.#modelSpoke = false;
  }

  failure(at: number): TurnOutcome | null {
    const words = this.#ownWords;
    if (!this.#isApart || words === "" || /^(config )?warning\b/i.test(words)) return null;
    const outcome = outcomeOfError(words, { at, login: loginAdvice });
    // A notice behind the model's own last word is no failure unless it says so.
    return outcome.type === "failed" && this.#modelSpoke ? null : outcome;
  }
}
