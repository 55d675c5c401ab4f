/**
 * What a model says is a function of the request alone: the last thing the person said and the tool results since then. So a
 * script goes on where it was after any restart, of the program as well as of the server. The one exception is `times`, a
 * counter for faults that pass.
 */

/** A request, whatever API it came by. */
export interface Asked {
  readonly api: "messages" | "responses" | "generate";
  readonly model: string;
  readonly system: string;
  /** The last thing the person said, without what the program puts around it. */
  readonly prompt: string;
  /** How many things the person has said, this one included: 2 in a session that was resumed once. */
  readonly prompts: number;
  /** What tools answered since then. */
  readonly toolResults: readonly string[];
  readonly tools: readonly OfferedTool[];
  readonly isStreaming: boolean;
}

export interface OfferedTool {
  readonly name: string;
  /** "function", or a kind the API knows itself: "custom", "local_shell". */
  readonly kind: string;
  /** Names of its arguments, where it says. */
  readonly inputs: readonly string[];
}

export type Say =
  | { readonly text: string }
  /** As it is, under the name that the program offers. */
  | { readonly tool: { readonly name: string; readonly input: unknown } }
  /** These three become whatever the program offers for it. */
  | { readonly shell: string }
  | { readonly write: { readonly path: string; readonly text: string } }
  | { readonly read: string };

export interface TokenUsage {
  /** Not read from a cache. */
  readonly input: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly output: number;
}

export type Fault =
  | { readonly kind: "rate-limit"; readonly retryAfterSeconds: number }
  /** The plan is used up until then (seconds since 1970). */
  | { readonly kind: "usage-limit"; readonly resetsAt: number }
  | { readonly kind: "overloaded" }
  | { readonly kind: "server-error" }
  | { readonly kind: "unauthorized" }
  | { readonly kind: "context-overflow" }
  /** Never answers. */
  | { readonly kind: "hang" }
  /** The connection breaks after that many events of the stream. */
  | { readonly kind: "cut"; readonly afterEvents: number }
  | { readonly kind: "slow"; readonly betweenMs: number };

export interface Answer {
  readonly say: readonly Say[];
  readonly usage?: Partial<TokenUsage>;
  readonly fault?: Fault;
}

export interface Rule extends Partial<Answer> {
  readonly when: When;
  /** Applies to that many requests, then no longer. */
  readonly times?: number;
}

/** Everything that is named must hold. Patterns may be source text, so that a script can be JSON. */
export interface When {
  readonly text?: RegExp | string;
  readonly system?: RegExp | string;
  readonly model?: RegExp | string;
  /** The newest tool result. */
  readonly result?: RegExp | string;
  readonly toolResults?: number;
  readonly prompts?: number;
  /** A request without tools is an errand of the program (a title, a probe): rules do not see it unless they say so. */
  readonly errand?: boolean;
}

/** Rules, the first that holds counts; or a function, null for "nothing to say to this". */
export type Script = readonly Rule[] | ((asked: Asked) => Answer | null);

export const defaultUsage: TokenUsage = { input: 100, cacheRead: 1000, cacheWrite: 50, output: 10 };

const errandAnswer: Answer = { say: [{ text: "ok" }] };
const unscripted: Answer = { say: [{ text: "Nothing in the script fits this request." }] };

/** A script with its counters. */
export function readScript(script: Script): (asked: Asked) => Answer {
  const used = new Map<Rule, number>();
  const fallBack = (asked: Asked) => (asked.tools.length === 0 ? errandAnswer : unscripted);
  if (typeof script === "function") return (asked) => script(asked) ?? fallBack(asked);
  return (asked) => {
    const rule = script.find((one) => (used.get(one) ?? 0) < (one.times ?? Infinity) && holds(one.when, asked));
    if (!rule) return fallBack(asked);
    used.set(rule, (used.get(rule) ?? 0) + 1);
    return { ...rule, say: rule.say ?? [] };
  };
}

function holds(when: When, asked: Asked): boolean {
  if ((when.errand ?? false) !== (asked.tools.length === 0)) return false;
  if (when.toolResults !== undefined && when.toolResults !== asked.toolResults.length) return false;
  if (when.prompts !== undefined && when.prompts !== asked.prompts) return false;
  const texts = [
    [when.text, asked.prompt],
    [when.system, asked.system],
    [when.model, asked.model],
    [when.result, asked.toolResults.at(-1) ?? ""],
  ] as const;
  return texts.every(([pattern, text]) => pattern === undefined || new RegExp(pattern).test(text));
}
