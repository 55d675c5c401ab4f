import { join } from "node:path";
import type { Reviewer, Turn } from "../core/ports/agent.js";
import { turnEnvironment } from "../core/ports/turn-protocol.js";
import type { CerberusSettings } from "../core/settings.js";
import { allowedEnvironment } from "../lib/environment.js";
import { findExecutable } from "../lib/executable.js";
import { hideVariables } from "../lib/redact.js";
import { callTimeoutSeconds, type Plan, planVariable, reviewSeconds } from "./cerberus/plan.js";
import { readReview } from "./read-turn.js";

export interface CerberusOptions {
  readonly name: string;
  readonly settings: CerberusSettings;
  /** The bundled driver: one program that starts the review, waits for it and writes the verdict. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The cerberus CLI as a reviewer. Its state lives in the attempt's folder, so no two reviews can meet. */
export function cerberusReviewer({ name, settings, program, env }: CerberusOptions): Reviewer {
  hideVariables(settings.env);
  return {
    kind: "cerberus",
    timeoutSeconds: callTimeoutSeconds(settings),
    check: async () => missingCerberus(name, settings.env.PATH ?? env.PATH ?? ""),
    command: (turn) => ({
      argv: [process.execPath, program],
      env: {
        ...allowedEnvironment(env, ["CERBERUS_*"]),
        ...settings.env,
        ...turnEnvironment(turn),
        [planVariable]: JSON.stringify(planOf(turn, settings)),
      },
      stopSignal: "SIGTERM",
    }),
    read: readReview,
  };
}

function planOf(turn: Turn, settings: CerberusSettings): Plan {
  return {
    folder: join(turn.files.folder, "cerberus"),
    timeoutSeconds: reviewSeconds(settings),
    spawnArgs: settings.spawn_args,
    waitArgs: settings.wait_args,
  };
}

function missingCerberus(name: string, path: string): { message: string; hint: string } | null {
  const seen = findExecutable("cerberus", path, process.cwd());
  if (seen.state === "found") return null;
  const what = seen.state === "missing" ? "the program cerberus is not on PATH" : `${seen.path} is not executable`;
  return {
    message: `reviewer ${name}: ${what}`,
    hint: "install cerberus, or choose another reviewer: reviewer_type: agent_sdk, or command with a program of yours",
  };
}
