import type { WorkflowSignal } from "../../workflow/machine/events.js";

/** Inbox rows are written by us, but perhaps by another version: what is not understood is told, never guessed. */
export function parseWorkflowSignal(body: unknown): WorkflowSignal {
  const { name, stage, visit, option, feedback, by, reason, finding, turn, id } = fields(body);
  if (name === "asked") return parseAsked(body);
  // A run's words for the same: `ratchet stop` and `ratchet drain` know no kinds of runs.
  if (name === "cancel" || name === "stop" || name === "drain") return { name: "cancel" };
  if (name === "answer" && isText(stage) && isText(option)) {
    const said = { feedback: isText(feedback) ? feedback : null, by: isText(by) ? by : "unknown" };
    return { name, stage, option, ...(typeof visit === "number" ? { visit } : {}), ...said };
  }
  if (name === "session" && isText(turn) && isText(id)) return { name, turn, id };
  if (name === "budget" && isText(reason)) return { name, reason };
  if (name === "waive" && isText(finding) && isText(reason)) return { name, finding, reason };
  throw new Error(`unknown signal ${JSON.stringify(body)}`);
}

function parseAsked(body: unknown): WorkflowSignal {
  const { stage, visit, prompt, details, more, gate } = fields(body);
  if (!isText(stage) || !isText(prompt) || !isText(gate)) throw new Error(`unknown signal ${JSON.stringify(body)}`);
  const counts = { visit: Number(visit) || 0, more: Number(more) || 0 };
  return { name: "asked", stage, prompt, gate, details: isText(details) ? details : null, ...counts };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function fields(body: unknown): Record<string, unknown> {
  return typeof body === "object" && body !== null ? { ...body } : {};
}
