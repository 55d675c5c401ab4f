import type { PrSignal } from "../../core/pull-request/events.js";

/** Inbox rows are written by us, but perhaps by another version: what is not understood is told, never guessed. */
export function parsePrSignal(body: unknown): PrSignal {
  const { name, id, cycle, feedback, byHand }: Record<string, unknown> =
    typeof body === "object" && body !== null ? { ...body } : {};
  if (name === "look") return byHand === true ? { name, byHand } : { name };
  if (name === "admit" && typeof id === "string") return { name, id };
  if (name === "rework") {
    return {
      name,
      cycle: typeof cycle === "number" ? cycle : null,
      feedback: typeof feedback === "string" ? feedback : null,
    };
  }
  throw new Error(`unknown signal ${JSON.stringify(body)}`);
}
