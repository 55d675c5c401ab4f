import type { RunEvent } from "./effects.js";
import type { RunState } from "./state.js";
import { triggersOf } from "./trigger-state.js";

type Crashed = Extract<RunEvent, { type: "crashed" }>;

/** What a person reads when something of the run could not be done: what it was, what happens next, and why. */
export function brokenText({ effect, key, message }: Crashed, state: RunState, isWatchful: boolean): string {
  return `${whatAndNext({ effect, key }, state, isWatchful)}: ${message}`;
}

function whatAndNext({ effect, key }: Pick<Crashed, "effect" | "key">, state: RunState, isWatchful: boolean): string {
  const nothingElse = "nothing else is started, what runs goes on to its end";
  switch (effect) {
    case "prepare":
      return "The run could not be prepared, and ends";
    case "pick":
      return `The next issue could not be asked for; ${nothingElse}`;
    case "board": {
      const next = isWatchful ? nothingElse : "it is asked again when an issue ends";
      return `The board could not be listened to; ${next}`;
    }
    case "epic":
    case "epics":
      return "Epics could not be looked at; they stay as they are, and the next run looks again";
    case "named":
      return "Why issues that were named did not run could not be asked for";
    case "child": {
      const child = state.children.find((one) => one.key === key);
      return `${child?.issueId ?? "An issue"} broke off, and counts as failed`;
    }
    case "trigger":
      return `${triggersOf(state).running?.name ?? "A trigger"} broke off, and has not passed`;
    default:
      return `The run's ${effect} broke; ${nothingElse}`;
  }
}
