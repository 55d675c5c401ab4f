import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Guard, ProgramCall } from "../core/ports/agent.js";
import { allowedEnvironment, basicAgentEnv } from "../lib/environment.js";
import { findExecutable } from "../lib/executable.js";
import { readLastWords } from "../lib/program-files.js";
import { runShellCommand } from "../lib/run-command.js";

/**
 * `agent.sandbox: bwrap`: the whole machine read-only, but for what a turn has to write. The guard judges what an agent
 * asks for; this holds for what programs do by themselves too. The network stays, and so do process numbers, so that a
 * turn is followed, stopped and re-attached as without it.
 */
export interface SandboxPlace {
  /** The attempt's folder. What its guard goes by is read-only in it. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Argv = readonly [string, ...string[]];

/**
 * A signal for the turn reaches bwrap as well, which then ends at once, and would leave the program inside no time to
 * end cleanly: the launcher waits for that one, a while.
 */
const launcher = `
trap : INT TERM HUP
exec 9>"$1"
(shift; exec "$@")
set -- "$1" $?
exec 9>&-
[ "$2" -gt 128 ] || exit "$2"
set -- "$2" "$(sed -n 's/.*"child-pid": *\\([0-9]*\\).*/\\1/p' "$1")"
[ -n "$2" ] || exit "$1"
while [ $# -lt 150 ] && kill -0 "$2" 2>/dev/null; do sleep 0.1; set -- "$@" x; done
exit "$1"
`;

/** Where the agents keep sessions and logins, unless a variable says otherwise. */
const configs: readonly (readonly [variable: string, folders: readonly string[]])[] = [
  ["CLAUDE_CONFIG_DIR", [".claude", ".claude.json"]],
  ["CODEX_HOME", [".codex"]],
  ["PI_CODING_AGENT_DIR", [".pi"]],
  ["GEMINI_CONFIG_DIR", [".gemini"]],
  ["OPENCODE_CONFIG_DIR", [".config/opencode", ".local/share/opencode", ".local/state/opencode"]],
];
/** Without them every install would begin from nothing, or fail. */
const caches = [
  ...[".cache", ".npm", ".yarn", ".bun", ".pnpm-store", ".local/share/pnpm", ".cargo/registry", ".cargo/git"],
  ...["go/pkg", ".gradle", ".m2", ".nuget", ".gem", ".bundle"],
];
const secretFolders = [
  ...[".ssh", ".aws", ".gnupg", ".kube", ".azure", ".password-store"],
  ...[".config/gcloud", ".config/gh", ".local/share/keyrings"],
];
const secretFiles = [".netrc", ".git-credentials"];

/** The command line of a turn, locked in. */
export function sandboxed({ argv, env }: ProgramCall, guard: Guard, place: SandboxPlace): Argv {
  const seen = { ...place.env, ...env };
  const home = resolve(seen.HOME ?? homedir());
  const rules = [
    ...["--ro-bind", "/", "/", "--dev", "/dev"],
    ...writablePlaces(guard, seen, home).flatMap((path) => ["--bind-try", path, path]),
    ...(guard.readOnly ? ["--ro-bind", guard.worktree, guard.worktree] : []),
    ...["--bind", place.folder, place.folder],
    ...settingsIn(place.folder).flatMap((path) => ["--ro-bind", path, path]),
    ...secretsIn(home),
    ...["--info-fd", "9", "--chdir", guard.worktree],
  ];
  const info = join(place.folder, "sandbox.json");
  return ["/bin/sh", "-c", launcher, "ratchet-sandbox", info, "bwrap", ...rules, "--", ...argv];
}

function writablePlaces(guard: Guard, env: SandboxPlace["env"], home: string): string[] {
  const own = configs.flatMap(([variable, folders]) => {
    const named = env[variable];
    return named === undefined || named === "" ? folders.map((folder) => join(home, folder)) : [resolve(named)];
  });
  // A reviewer changes neither files nor the repository.
  const ours = guard.readOnly ? guard.writable.filter((folder) => !existsSync(join(folder, "HEAD"))) : guard.writable;
  return [...ours, ...own, ...caches.map((cache) => join(home, cache)), ...(guard.readOnly ? [] : [guard.worktree])];
}

/** What the adapter wrote before the start: the guard's policy, the program's settings. */
function settingsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name === "guard.json" || /settings.*\.json$/.test(name))
    .map((name) => join(folder, name));
}

function secretsIn(home: string): string[] {
  const there = (names: readonly string[]) => names.map((name) => join(home, name)).filter((path) => existsSync(path));
  return [
    ...there(secretFolders)
      .filter((path) => statSync(path).isDirectory())
      .flatMap((path) => ["--tmpfs", path]),
    ...there(secretFiles).flatMap((path) => ["--ro-bind", "/dev/null", path]),
  ];
}

/** What keeps agents from being locked in on this machine, with a hint; null: nothing. */
export async function missingSandbox(
  env: SandboxPlace["env"],
): Promise<{ readonly message: string; readonly hint: string } | null> {
  if (process.platform !== "linux") {
    return { message: "agent.sandbox: bwrap works on Linux only", hint: "set agent.sandbox to none" };
  }
  if (findExecutable("bwrap", env.PATH ?? "", "/").state !== "found") {
    const hint = "install bubblewrap (apt install bubblewrap, dnf install bubblewrap), or set agent.sandbox to none";
    return { message: "agent.sandbox: the program bwrap was not found on PATH", hint };
  }
  const folder = mkdtempSync(join(tmpdir(), "ratchet-sandbox-"));
  try {
    const command = "exec bwrap --ro-bind / / --dev /dev -- true";
    const { signal } = new AbortController();
    const own = allowedEnvironment(env, basicAgentEnv);
    const tried = await runShellCommand({ folder, command, cwd: "/", env: own, timeoutSeconds: 20, signal });
    if (tried.exitCode === 0) return null;
    const words = await readLastWords(tried.stderrPath);
    return {
      message: `agent.sandbox: bwrap does not work here: ${words || "it did not end"}`,
      hint: "user namespaces have to be allowed (sysctl kernel.unprivileged_userns_clone=1, or an AppArmor profile for bwrap); else set agent.sandbox to none",
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
