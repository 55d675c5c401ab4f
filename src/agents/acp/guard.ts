import { existsSync, readFileSync } from "node:fs";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { decide } from "../../hook/decide.js";
import { markAsked, noteDenied, readGuardFile } from "../../hook/guard-file.js";
import type { Decision, ToolCall } from "../../hook/types.js";
import { parseFields, toText } from "../json.js";

export interface OpenGuard {
  readonly readOnly: boolean;
  /** null: a call that does not show what it would do, which nobody can allow. */
  ask(tool: string, calls: readonly ToolCall[] | null): Decision;
  /** What was refused since the last look, here or by the hook that the program asks itself. */
  denials(): AgentEvent[];
}

/** The guard of this turn; it throws where there is none, and then there is no turn. */
export function openGuard(path: string): OpenGuard {
  const file = readGuardFile(path);
  let seen = 0;
  return {
    readOnly: file.guard.readOnly,
    ask: (tool, calls) => {
      markAsked(file);
      const decision = calls === null ? unseen : judge(calls, (call) => decide(file.guard, call));
      if (!decision.allow) noteDenied(file, { tool, reason: decision.reason, input: calls });
      return decision;
    },
    denials: () => {
      const lines = existsSync(file.denied) ? readFileSync(file.denied, "utf8").split("\n").slice(0, -1) : [];
      const fresh = lines.slice(seen);
      seen = lines.length;
      return fresh.map((line) => {
        const { tool, reason } = parseFields(line) ?? {};
        return { type: "permission-denied", tool: toText(tool), reason: toText(reason) };
      });
    },
  };
}

function judge(calls: readonly ToolCall[], decideOn: (call: ToolCall) => Decision): Decision {
  return calls.map(decideOn).find(({ allow }) => !allow) ?? { allow: true };
}

const unseen: Decision = { allow: false, reason: "the program does not show what this tool would do" };
