import type { TurnOutcome } from "../../core/issue/events.js";
import { messageOf } from "../../lib/errors.js";
import { outcomeOfError } from "../error-words.js";
import { toFields, toText } from "../json.js";
import { RpcError } from "./connection.js";

/** The program ended while it was asked something. */
export class ProgramGone extends Error {
  override readonly name = "ProgramGone";
}

const authRequired = -32000;
const resourceNotFound = -32002;

export const loginAdvice = "log in with the program itself, or set its API key and name it in agent.env";

export function isAuthRequired(error: unknown): boolean {
  return error instanceof RpcError && (error.code === authRequired || /auth\w* required/i.test(error.message));
}

/** What the answer to a prompt, an error, means for the turn. */
export function outcomeOfFailure(error: unknown): TurnOutcome {
  // Its word is lost, its session is not: trying again helps unless it dies again.
  if (error instanceof ProgramGone) return { type: "transient", reason: error.message };
  if (isAuthRequired(error)) return { type: "failed", reason: `${messageOf(error)} (${loginAdvice})` };
  return outcomeOfError(wordsOf(error), { at: Date.now(), login: loginAdvice });
}

/** A session that cannot be opened is as good as gone, unless the reason is one that passes or a person's to mend. */
export function outcomeOfLoading(error: unknown): TurnOutcome {
  if (error instanceof ProgramGone) return { type: "failed", reason: error.message };
  if (error instanceof RpcError && error.code === resourceNotFound) return { type: "no-session" };
  const outcome = outcomeOfFailure(error);
  return outcome.type === "failed" && !isAuthRequired(error) ? { type: "no-session" } : outcome;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof RpcError)) return messageOf(error);
  const data = toFields(error.data);
  const kind = [data.errorKind, data.codexErrorInfo].map(toText).join(" ");
  const details = [data.message, data.details].map(toText).filter((text) => text !== "");
  const whole = details.length > 0 && /^internal error$/i.test(error.message) ? details : [error.message, ...details];
  // The program's own name for the error stands behind the words, where it decides only what they leave open.
  return [...whole, kind.trim() === "" ? "" : `[${kind.trim()}]`].filter((text) => text !== "").join(" ");
}
