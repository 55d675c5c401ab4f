import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Case } from "./cases.js";
import { type ProgramName, plainCall, sessionIn } from "./programs.js";

/** One turn of a real program, with what it said. */
export interface Turn {
  readonly argv: readonly string[];
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
}

const turnTimeoutMs = 120_000;
const unknownSession = "22222222-2222-4222-8222-222222222222";
const stopSignals = { claude: "SIGINT", codex: "SIGINT", pi: "SIGTERM" } as const;

export function makeRepository(root: string, env: NodeJS.ProcessEnv): string {
  const dir = join(root, "repo");
  mkdirSync(dir);
  const git = (...args: string[]) => execFileSync("git", args, { cwd: dir, env });
  git("init", "--quiet", "--initial-branch=main", "--template=");
  git("config", "user.name", "A Person");
  git("config", "user.email", "person@localhost");
  writeFileSync(join(dir, "README.md"), "# A shop\n");
  git("add", "--all");
  git("commit", "--quiet", "--message", "The beginning");
  return dir;
}

/** `env` leads to the model server; everything is below `root`. */
export async function playCase(
  program: ProgramName,
  one: Case,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<Turn> {
  const dir = makeRepository(root, env);
  const place = { root, dir, env: { ...env, ...one.env?.[program] } };
  const session = await sessionFor(program, one, place);
  const argv = withFlags(plainCall(program, session), one.isGuarded ? guardFlags(program, root) : []);
  return playTurn(argv, one.prompt, { ...place, signal: signalOf(program, one) });
}

async function sessionFor(program: ProgramName, { session }: Case, place: Place): Promise<string | null> {
  if (session !== "resumed") return session === "new" ? null : unknownSession;
  return sessionIn((await playTurn(plainCall(program), "WRITE the file", place)).stdout);
}

function signalOf(program: ProgramName, { signal }: Case): NodeJS.Signals | null {
  return signal === "stop" ? stopSignals[program] : (signal ?? null);
}

/** Where each of them takes options: codex before its subcommand, the others anywhere. */
function withFlags([program, ...rest]: readonly [string, ...string[]], flags: readonly string[]): string[] {
  const at = program === "codex" ? rest.indexOf("--json") + 1 : rest.length;
  return [program, ...rest.slice(0, at), ...flags, ...rest.slice(at)];
}

const hook = `import { readFileSync } from "node:fs";
const { tool_input } = JSON.parse(readFileSync(0, "utf8"));
const deny = { permissionDecision: "deny", permissionDecisionReason: "Pushing is not allowed here." };
if (JSON.stringify(tool_input).includes("push"))
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: "PreToolUse", ...deny } }));
`;
const extension = `export default function (pi) {
  pi.on("tool_call", async ({ input }) => {
    if (JSON.stringify(input).includes("push")) return { block: true, reason: "Pushing is not allowed here." };
  });
}
`;

function guardFlags(program: ProgramName, root: string): string[] {
  const file = join(root, program === "pi" ? "guard.ts" : "hook.mjs");
  writeFileSync(file, program === "pi" ? extension : hook);
  if (program === "pi") return ["-e", file];
  const command = `node ${file}`;
  if (program === "claude") {
    const hooks = { PreToolUse: [{ matcher: "*", hooks: [{ type: "command", command, timeout: 30 }] }] };
    return ["--settings", JSON.stringify({ hooks })];
  }
  const hooks = `hooks.PreToolUse=[{matcher="*",hooks=[{type="command",command="${command}",timeout=30}]}]`;
  return ["-c", hooks, "--dangerously-bypass-hook-trust"];
}

interface Place {
  readonly root: string;
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: NodeJS.Signals | null;
}

/** Prompt from a file, output to files, as Ratchet starts programs. */
async function playTurn(argv: readonly string[], prompt: string, { root, dir, env, signal }: Place): Promise<Turn> {
  const file = (name: string) => join(root, name);
  writeFileSync(file("prompt"), `${prompt}\n`);
  const [program = "", ...args] = argv;
  const child = spawn(program, args, {
    cwd: dir,
    env,
    stdio: [openSync(file("prompt"), "r"), openSync(file("stdout"), "w"), openSync(file("stderr"), "w")],
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), turnTimeoutMs);
  const ended = new Promise<[number | null, string | null]>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, by) => resolve([code, by]));
  });
  if (signal) {
    await untilExists(join(dir, "begun.txt"));
    child.kill(signal);
  }
  const [exitCode, endedBy] = await ended;
  clearTimeout(timer);
  endLeftovers(root);
  const [stdout, stderr] = [readFileSync(file("stdout"), "utf8"), readFileSync(file("stderr"), "utf8")];
  for (const name of ["prompt", "stdout", "stderr"]) rmSync(file(name));
  return { argv, stdout, stderr, exitCode, signal: endedBy };
}

async function untilExists(file: string): Promise<void> {
  const giveUpAt = Date.now() + 30_000;
  while (!existsSync(file)) {
    if (Date.now() > giveUpAt) throw new Error(`waited in vain for ${file}`);
    await delay(20);
  }
}

/** A killed program leaves its tools running: whatever has our folder in its environment is ours. */
export function endLeftovers(root: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${pid}/environ`, "latin1").includes(root)) process.kill(Number(pid), "SIGKILL");
    } catch {
      // It is gone, or not ours to look at.
    }
  }
}
