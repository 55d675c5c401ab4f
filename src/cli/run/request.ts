import type { ConfigFlags } from "../../config/overlay.js";
import type { Scope } from "../../core/ports/tracker.js";
import type { RunOptions } from "../../core/run/effects.js";
import { UserError } from "../../lib/errors.js";
import { typed } from "../typed.js";

/** As commander hands them over. */
export interface RunFlags {
  readonly maxAgents?: string;
  readonly maxIssues?: string;
  readonly maxReviewRetries?: string;
  readonly disableValidations?: readonly string[];
  readonly json?: boolean;
  readonly scope?: string;
  readonly dryRun?: boolean;
  readonly explain?: boolean;
  readonly resume?: boolean;
  readonly prioritizeWip?: boolean;
  readonly strict?: boolean;
  readonly fresh?: boolean;
  readonly checkOnly?: boolean;
  readonly watch?: boolean;
}

/** What is asked of a run before the configuration is known. */
export type Wanted = Omit<RunOptions, "maxIssues">;

export function toWanted(ids: readonly string[], flags: RunFlags): Wanted {
  const resume = flags.resume === true || flags.prioritizeWip === true;
  for (const [key, name] of howToResume) {
    if (flags[key] && !resume) {
      throw new UserError(`--${name} says how to resume`, { hint: `add --resume: ratchet run --resume --${name}` });
    }
  }
  if (flags.explain && !flags.dryRun) {
    throw new UserError("--explain tells what a run would do", {
      hint: "add --dry-run: ratchet run --dry-run --explain",
    });
  }
  if (flags.strict && flags.fresh) {
    throw new UserError("--strict demands the earlier session and --fresh a new one", { hint: "give one of them" });
  }
  if (flags.checkOnly && (flags.strict || flags.fresh)) {
    throw new UserError("--check-only starts no agent, so there is no session to restore or to begin", {
      hint: "leave out --strict and --fresh",
    });
  }
  const only = flags.checkOnly ? ({ only: "check" } as const) : {};
  const { strict = false, fresh = false } = flags;
  return { scope: toScope(ids, flags.scope), resume, strict, fresh, ...only, ...(flags.watch ? { watch: true } : {}) };
}

const howToResume = [
  ["strict", "strict"],
  ["fresh", "fresh"],
  ["checkOnly", "check-only"],
] as const;

function toScope(ids: readonly string[], text: string | undefined): Scope {
  if (ids.length > 0) {
    if (text !== undefined)
      throw new UserError("ids and --scope cannot be given together", { hint: "give one of them" });
    return { type: "ids", ids: [...new Set(ids)] };
  }
  if (text === undefined || text === "all") return { type: "all" };
  if (text === "orphans") return { type: "orphans" };
  const [kind, ...rest] = text.split(":");
  const names = rest
    .join(":")
    .split(",")
    .map((name) => name.trim());
  const [first = ""] = names;
  if (kind === "epic" && names.length === 1 && first !== "") return { type: "epic", epic: first };
  if (kind === "ids" && names.every((name) => name !== "")) return { type: "ids", ids: [...new Set(names)] };
  throw new UserError(`--scope ${typed(text)} is not one of all, epic:X, ids:a,b, orphans`);
}

export function toConfigFlags(flags: RunFlags): ConfigFlags {
  const disabled = flags.disableValidations?.flatMap((names) => names.split(",")).map((name) => name.trim());
  return {
    maxAgents: flags.maxAgents,
    maxIssues: flags.maxIssues,
    maxReviewRetries: flags.maxReviewRetries,
    disableValidations: disabled,
  };
}
