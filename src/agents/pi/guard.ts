import { homedir } from "node:os";
import { decide } from "../../hook/decide.js";
import { markAsked, noteDenied, readGuardFile } from "../../hook/guard-file.js";
import { normalise } from "../../hook/normalise.js";
import type { Decision } from "../../hook/types.js";
import { messageOf } from "../../lib/errors.js";
import { toFields } from "../json.js";
import { refusedWords } from "./stream.js";

/** What of pi's own interface for extensions is used here. */
interface Pi {
  on(event: "tool_call", ask: (call: PiCall, context: { readonly cwd: string }) => Blocked | undefined): void;
}
interface PiCall {
  readonly toolName: string;
  readonly input: unknown;
}
interface Blocked {
  readonly block: true;
  readonly reason: string;
}

/** An extension of pi that is asked before every tool. Where it cannot decide, nothing is allowed. */
export default function guard(pi: Pi): void {
  pi.on("tool_call", (call, { cwd }) => {
    const decision = judge(call, cwd);
    return decision.allow ? undefined : { block: true, reason: `${refusedWords}${decision.reason}` };
  });
}

function judge({ toolName: tool, input }: PiCall, cwd: string): Decision {
  try {
    const file = readGuardFile(process.env.RATCHET_GUARD);
    markAsked(file);
    const call = normalise({ tool, input: expanded(input), cwd });
    const decision: Decision =
      call === null ? { allow: false, reason: `the input of ${tool} cannot be read` } : decide(file.guard, call);
    if (!decision.allow) noteDenied(file, { tool, reason: decision.reason, input });
    return decision;
  } catch (error) {
    return { allow: false, reason: `nothing is allowed, because the guard cannot decide: ${messageOf(error)}` };
  }
}

/** pi drops an @ before a path, takes odd spaces for plain ones and knows ~: the guard must see where it leads. */
function expanded(input: unknown): unknown {
  const { path } = toFields(input);
  if (typeof path !== "string") return input;
  const plain = path.replace(/^@/, "").replace(/[\u00A0\u2000-\u200A\u202F\u205F\u3000]/g, " ");
  return { ...toFields(input), path: plain.replace(/^~(?=\/|$)/, () => homedir()) };
}
