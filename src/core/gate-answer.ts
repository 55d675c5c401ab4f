/** An answer to a human gate, as it waits in an inbox. */
interface GateAnswer {
  readonly stage: string;
  readonly option: string;
}

/** null: it is something else. */
export function gateAnswerOf(body: unknown): GateAnswer | null {
  if (typeof body !== "object" || body === null || !("name" in body) || body.name !== "answer") return null;
  if (!("stage" in body) || !("option" in body)) return null;
  const { stage, option } = body;
  return typeof stage === "string" && typeof option === "string" ? { stage, option } : null;
}
