import type { RunReport } from "../../src/core/report.js";
import type { KernelEvent, Next, Stamped } from "../../src/durable/types.js";

/**
 * A small machine for the conformance suite. A script says what is owed once a key has settled; the word before the
 * colon says what performing it means, a leading minus cancels. State is what has settled, in order.
 */
export interface Owed {
  readonly key: string;
  readonly kind: string;
  readonly until: number;
}
export interface Done {
  readonly type: "done";
  readonly key: string;
  readonly value: string;
}
export interface ScriptState {
  readonly version: number;
  readonly resumed: number;
  readonly done: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}
export const initialState: ScriptState = { version: 1, resumed: 0, done: [], values: {} };

type Script = Readonly<Record<string, readonly string[]>>;
export const timerMs = 1500;
export const longSteps = 400;

export function scriptOf(name: string, version: number): Script {
  const scripts: Record<string, Script> = {
    chain: { started: ["work:a"], "work:a": ["work:b"], "work:b": ["work:c"] },
    branches: {
      started: ["work:a1", "work:b1", "work:c1", "work:d1"],
      "work:a1": ["work:a2"],
      "work:b1": ["work:b2"],
      "work:c1": ["work:c2"],
      "work:d1": ["work:d2"],
    },
    upgrade:
      version === 1
        ? { started: ["work:a"], "work:a": ["hold:b"], "hold:b": ["work:c"] }
        : { started: ["work:a"], "work:a": ["hold:b"], "hold:b": ["work:checked"], "work:checked": ["work:c"] },
    signal: { started: ["wait:go"], "wait:go": ["work:a"] },
    timer: { started: ["timer:nap"], "timer:nap": ["work:a"] },
    held: { started: ["hold:gate", "forever:watch"], "hold:gate": ["-forever:watch", "work:a"] },
    big: { started: ["big:result"], "big:result": ["work:a"] },
    long: Object.fromEntries(
      Array.from({ length: longSteps }, (_, n) => [n === 0 ? "started" : `work:${n}`, [`work:${n + 1}`]]),
    ),
  };
  return scripts[name] ?? {};
}

export function transitionOf(script: Script, version: number) {
  return (state: ScriptState, event: Stamped<Done | KernelEvent>): Next<ScriptState, Owed, RunReport> => {
    if (event.type === "resumed") return { state: { ...state, resumed: state.resumed + 1 }, effects: [] };
    const key = event.type === "started" ? "started" : event.key;
    const next = script[key] ?? [];
    const value = event.type === "done" && event.value !== "" ? { [event.key]: event.value.slice(0, 100) } : {};
    return {
      state: { ...state, version, done: [...state.done, key], values: { ...state.values, ...value } },
      effects: next.filter((word) => !word.startsWith("-")).map((word) => owed(word, event.at)),
      cancel: next.filter((word) => word.startsWith("-")).map((word) => word.slice(1)),
      reports: [{ type: "log", level: "info", text: key }],
    };
  };
}

function owed(key: string, at: number): Owed {
  return { key, kind: key.slice(0, key.indexOf(":")), until: at + timerMs };
}
