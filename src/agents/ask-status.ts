import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { AgentStatus } from "../core/ports/agent.js";
import { codeOf, messageOf } from "../lib/errors.js";
import { plainText } from "../lib/output-digest.js";
import { isOlderVersion } from "./version.js";

/** What `doctor` has to know of a program to ask it for its version and its login. */
export interface AskedProgram {
  readonly program: string;
  /** What stands before its own arguments. */
  readonly given: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Where a relative program is. */
  readonly cwd: string;
  readonly known: RegExp;
  /** As people say it. */
  readonly triedWith: string;
  /** Older ones lack flags that Ratchet calls it with. */
  readonly least: string;
  readonly installHint: string;
  readonly loginAdvice: string;
  /** null: cannot be told without asking the model. */
  readonly isLoggedIn: (ask: Ask) => Promise<boolean | null>;
}
export type Ask = (...args: string[]) => Promise<{ readonly stdout: string; readonly stderr: string }>;

/** Nobody is told anything meanwhile. */
const patienceMs = 15_000;

export async function askStatus(asked: AskedProgram): Promise<AgentStatus> {
  const { program, given, env, cwd, least, installHint } = asked;
  const options = { env, cwd, timeout: patienceMs, maxBuffer: 16 * 1024 * 1024 };
  const ask: Ask = (...args) => promisify(execFile)(program, [...given, ...args], options);
  const unsure = { known: false, loggedIn: null } as const;
  try {
    const said = await ask("--version");
    const version = /\d+\.\d+\.\S+/.exec(`${said.stdout}\n${said.stderr}`)?.[0] ?? null;
    if (version === null) return { version, ...unsure, advice: `${program} names no version: ${installHint}` };
    if (isOlderVersion(version, least)) {
      return { version, ...unsure, advice: `Ratchet needs ${least} or newer: ${installHint}`, works: false };
    }
    const loggedIn = await asked.isLoggedIn(ask);
    const known = asked.known.test(version);
    const untried = `Ratchet was tried with ${asked.triedWith}; if something is wrong: ${installHint}`;
    return { version, known, loggedIn, advice: loggedIn === false ? asked.loginAdvice : known ? null : untried };
  } catch (error) {
    return { version: null, ...unsure, advice: `${installHint} (${whyNoVersion(error, program)})` };
  }
}

/** In the program's own words where it has said any. */
function whyNoVersion(error: unknown, program: string): string {
  const asked = `${program} --version`;
  if (!(error instanceof Error)) return messageOf(error);
  // The program itself was found before it was asked.
  if (codeOf(error) === "ENOENT") return `${program} cannot be started: what its first line names is not there`;
  if ("killed" in error && error.killed === true) return `${asked} did not answer within ${patienceMs / 1000} s`;
  const said = "stderr" in error ? plainText(String(error.stderr)).trim().split("\n")[0] : "";
  const signal = "signal" in error && error.signal !== null ? `was ended by ${error.signal}` : null;
  const how = signal ?? ("code" in error ? `failed with exit ${error.code}` : "failed");
  return `${asked} ${how}${said ? `: ${said}` : ""}`;
}
