import { basename } from "node:path";
import { unknown } from "./shell/unknown.js";

/** Files in a home that hold keys, tokens or passwords, and the folders of such files. */
const inHome = [
  [".ssh"],
  [".aws"],
  [".gnupg"],
  [".netrc"],
  [".git-credentials"],
  [".config", "gh"],
  [".config", "git", "credentials"],
  [".config", "gcloud"],
  [".azure"],
  [".docker", "config.json"],
  [".npmrc"],
  [".yarnrc.yml"],
  [".pypirc"],
  [".cargo", "credentials.toml"],
  [".cargo", "credentials"],
  [".gem", "credentials"],
  [".kube"],
  [".vault-token"],
  [".password-store"],
  [".codex", "auth.json"],
  [".claude", ".credentials.json"],
  [".claude.json"],
  [".pi", "agent", "auth.json"],
  [".gemini", "oauth_creds.json"],
  [".local", "share", "opencode", "auth.json"],
  [".local", "share", "keyrings"],
  [".bash_history"],
  [".zsh_history"],
];
const ofMachine = [
  ["etc", "shadow"],
  ["etc", "gshadow"],
  ["etc", "sudoers"],
  ["proc", unknown.glob, "environ"],
  ["proc", unknown.glob, "task", unknown.glob, "environ"],
];

const folds = process.platform === "darwin";

/** Paths as segments; a wildcard segment stands for any name. */
export function listSecrets(home: string): readonly (readonly string[])[] {
  const homes = [segmentsOf(home), ["root"], ["home", unknown.glob], ["Users", unknown.glob]];
  return [...homes.flatMap((each) => inHome.map((path) => [...each, ...path])), ...ofMachine];
}

/** Whether the path, wildcards and all, may be one of the secrets or lie in one. */
export function isSecretPath(path: string, secrets: readonly (readonly string[])[]): boolean {
  const segments = segmentsOf(path);
  return secrets.some((secret) => reaches(segments, secret));
}

/** Whether a secret lies somewhere below the path. */
export function holdsSecrets(path: string, secrets: readonly (readonly string[])[]): boolean {
  const segments = segmentsOf(path);
  return secrets.some(
    (secret) => secret.length > segments.length && segments.every((one, at) => mayBe(one, secret[at])),
  );
}

/** Files of settings that are secret wherever they are, but for the worktree's own. */
export function isEnvFile(path: string): boolean {
  const name = basename(path);
  return /^\.env(\..+)?$/.test(name) && !/\.(example|sample|template|dist|defaults?)$/.test(name);
}

function reaches(segments: readonly string[], secret: readonly string[]): boolean {
  for (const [at, part] of secret.entries()) {
    const segment = segments[at];
    if (segment === undefined) return false;
    if (segment.includes(unknown.below)) return true;
    if (segment.includes(unknown.any)) return at > 0;
    if (!mayBe(segment, part)) return false;
  }
  return true;
}

/** Could a name written so be this part of a secret's path? Names that begin with a dot are matched by a dot alone. */
function mayBe(segment: string, part: string | undefined): boolean {
  if (part === undefined) return false;
  if (part === unknown.glob) return true;
  const [name, wanted] = folds ? [segment.toLowerCase(), part.toLowerCase()] : [segment, part];
  if (name === wanted) return true;
  if (!/[\uE000-\uE003]/.test(name)) return false;
  if (wanted.startsWith(".") && name.startsWith(unknown.glob)) return false;
  return matchesPattern(name, wanted);
}

/** Greedy matching with one step back, so that a long pattern stays linear enough. */
export function matchesPattern(pattern: string, text: string): boolean {
  let [at, position, star, mark] = [0, 0, -1, 0];
  while (position < text.length) {
    const char = pattern[at];
    if (char !== undefined && /[\uE000-\uE003]/.test(char)) {
      star = at++;
      mark = position;
    } else if (char === text[position]) {
      at++;
      position++;
    } else if (star >= 0) {
      at = star + 1;
      position = ++mark;
    } else return false;
  }
  return [...pattern.slice(at)].every((char) => /[\uE000-\uE003]/.test(char));
}

export function segmentsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "" && part !== ".");
}
