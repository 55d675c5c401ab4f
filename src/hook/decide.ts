import { readFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname } from "node:path";
import { codeOf } from "../lib/errors.js";
import { openPaths, type Paths } from "./paths.js";
import { Refused } from "./refusal.js";
import { openSession } from "./shell/session.js";
import { mustBePlain } from "./shell/unknown.js";
import { openWalk } from "./shell/walk.js";
import type { Decision, GuardPolicy, Place, ToolCall } from "./types.js";

/**
 * What an agent that nobody watches may do: everything in its worktree, reading elsewhere but no secrets. A command is
 * read by a shell's parser and followed, never searched for words; what cannot be read is refused, with a reason that
 * tells the agent how to write it. It judges what is asked for: what a program does once it runs is the sandbox's part.
 */
export function decide(guard: GuardPolicy, call: ToolCall, place: Place = thisPlace()): Decision {
  try {
    return toDecision(judge(guard, call, place));
  } catch (error) {
    if (error instanceof Refused) return toDecision(error.message);
    // A line on which the judgement itself breaks is one that nobody has judged.
    return toDecision("the call could not be judged; write it in a simpler way");
  }
}

function toDecision(reason: string | null): Decision {
  return reason === null ? { allow: true } : { allow: false, reason };
}

function judge(guard: GuardPolicy, call: ToolCall, place: Place): string | null {
  const paths = openPaths(guard, place);
  switch (call.kind) {
    case "shell": {
      const walk = openWalk(openSession(guard, place, paths));
      const state = { cwds: [call.cwd], vars: new Map(), functions: new Map() };
      walk.runText(mustBePlain(call.command), { name: "", args: [], state, stdin: null, shell: walk });
      return null;
    }
    case "write":
      return firstReason(call.paths, "written", (path) => paths.refusesWrite(path, "writes"));
    case "read":
      return firstReason(call.paths, "read", paths.refusesRead);
    case "fetch":
      return /^file:/i.test(call.url) ? readsFile(call.url, paths) : null;
    case "other":
      return guard.readOnly && !call.reads
        ? `a reviewer uses only tools that read; ${call.name} is not known as one`
        : null;
  }
}

function firstReason(paths: readonly string[], done: string, refuses: (path: string) => string | null): string | null {
  for (const path of paths) {
    const reason = refuses(path);
    if (reason !== null) return `${path} may not be ${done}: ${reason}`;
  }
  return null;
}

function readsFile(url: string, paths: Paths): string | null {
  return firstReason([decodeURI(new URL(url).pathname)], "read", paths.refusesRead);
}

function thisPlace(): Place {
  const { env } = process;
  const kept = env.RATCHET_GUARD === undefined ? [] : [dirname(env.RATCHET_GUARD)];
  return { home: homedir(), tmp: tmpdir(), env, kept, ownsProcess };
}

/** Everything that a turn starts carries its cookie. */
function ownsProcess(pid: number): boolean {
  const cookie = process.env.RATCHET_TURN;
  if (cookie === undefined || process.platform !== "linux") return true;
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").includes(`RATCHET_TURN=${cookie}`);
  } catch (error) {
    return codeOf(error) === "ENOENT" || codeOf(error) === "ESRCH";
  }
}
