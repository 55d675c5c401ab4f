import type { TokenPrice } from "../../core/settings.js";
import { type Fields, toFields, toList, toText } from "../json.js";

/** What the bridge is told of its turn, in a file of the attempt's folder. */
export interface BridgeOptions {
  readonly command: readonly [string, ...string[]];
  readonly cwd: string;
  /** The session to go on in; null: a new one. */
  readonly session: string | null;
  readonly model: string | null;
  readonly effort: string | null;
  /** Where the guard's policy is. */
  readonly guard: string;
  /** What a program with hooks shall ask before each tool, for a shell. */
  readonly hook: string;
  /** agent.prices. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
}

export function parseOptions(value: unknown): BridgeOptions | null {
  const fields = toFields(value);
  const [program = "", ...args] = toList(fields.command).map(toText);
  const optional = (name: string) => toText(fields[name]) || null;
  if (program === "" || toText(fields.cwd) === "" || toText(fields.guard) === "") return null;
  return {
    command: [program, ...args],
    cwd: toText(fields.cwd),
    session: optional("session"),
    model: optional("model"),
    effort: optional("effort"),
    guard: toText(fields.guard),
    hook: toText(fields.hook),
    prices: toPrices(toFields(fields.prices)),
  };
}

function toPrices(fields: Fields): BridgeOptions["prices"] {
  const priced = Object.entries(fields).flatMap(([model, value]) => {
    const { input, output, cached } = toFields(value);
    if (typeof input !== "number" || typeof output !== "number") return [];
    return [[model, { input, output, ...(typeof cached === "number" ? { cached } : {}) }]] as const;
  });
  return Object.fromEntries(priced);
}
