import type { Json, StageTurnEnded } from "../../workflow/machine/events.js";
import { asStatus, type StatusRead } from "../../workflow/status.js";

/** What a stage wrote into its result file. It is foreign: what has the wrong type is as good as not there. */
export interface StageResult {
  /** null: it says nothing of the outcome. */
  readonly status: StatusRead | null;
  readonly context: Pick<StageTurnEnded, "contextUpdates" | "contextAppends">;
}

const keys = ["status", "outcome", "failure_reason", "preferred_label", "suggested_next_ids"];

export function readResult(value: unknown): StageResult {
  const fields = objectOf(value);
  const updates = contextOf(fields.context_updates);
  const appends = contextOf(fields.context_appends);
  return {
    status: keys.some((key) => key in fields) ? statusOf(fields) : null,
    context: {
      ...(updates === null ? {} : { contextUpdates: updates }),
      ...(appends === null ? {} : { contextAppends: appends }),
    },
  };
}

function statusOf(fields: Readonly<Record<string, unknown>>): StatusRead {
  const { failure_reason: reason, preferred_label: label, suggested_next_ids: next } = fields;
  return {
    from: "file",
    status: asStatus(textOf(fields.status) ?? textOf(fields.outcome)),
    failureReason: textOf(reason),
    preferredLabel: textOf(label),
    nextIds: Array.isArray(next) ? next.filter((id): id is string => typeof id === "string" && id !== "") : [],
  };
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value : null;
}

/** It has come from a JSON file, so what is in it is JSON. */
function contextOf(value: unknown): Readonly<Record<string, Json>> | null {
  const fields = objectOf(value);
  return Object.keys(fields).length === 0 ? null : (fields as Readonly<Record<string, Json>>);
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
