/** What a child process may see of our environment. Secrets go only where they are named. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Objects that an agent has replaced (`git replace`) would hide its change from whoever judges it: what lands is what the
 * objects themselves say. The variable wins over every configuration file, and goes to all, so that all see the same.
 */
const unreplaced = { GIT_NO_REPLACE_OBJECTS: "1" } as const;

/** What every agent gets, whatever else its settings name. */
export const basicAgentEnv = ["PATH", "HOME", "USER", "LANG", "LC_*", "TERM", "TMPDIR", "SHELL"] as const;

export function isSecretName(name: string): boolean {
  return /TOKEN|SECRET|PASSWORD|_KEY$/i.test(name);
}

/** Only the names allowed: exact ones, or prefixes written `PREFIX_*`. */
export function allowedEnvironment(env: Environment, allowed: readonly string[]): Record<string, string> {
  return pick(env, (name) => isListed(name, allowed));
}

/** For the user's own commands: everything but secrets, unless they are listed or all are inherited, and but what belongs to whoever started us. */
export function commandEnvironment(env: Environment, listed: "inherit" | readonly string[]): Record<string, string> {
  if (listed === "inherit") return pick(env, (name) => !isOurs(name));
  return pick(env, (name) => isListed(name, listed) || !(isSecretName(name) || isOurs(name)));
}

/**
 * A run inside another run's turn, or inside a git hook: the outer turn's protocol and the hook's repository would
 * lead a command to the wrong place.
 */
function isOurs(name: string): boolean {
  return turnNames.has(name) || repositoryNames.has(name);
}
const turnNames = new Set(
  ["ROLE", "PROMPT_KIND", "RUN_ID", "ISSUE_ID", "STAGE_ID", "ATTEMPT", "SESSION_ID", "RESULT_FILE", "MODEL", "EFFORT"]
    .concat(["REVIEWER", "BASE_SHA", "HEAD_SHA", "TURN"])
    .map((name) => `RATCHET_${name}`),
);
const repositoryNames = new Set(
  ["DIR", "WORK_TREE", "INDEX_FILE", "PREFIX", "COMMON_DIR", "OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"].map(
    (name) => `GIT_${name}`,
  ),
);

function isListed(name: string, list: readonly string[]): boolean {
  return list.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : name === entry));
}

function pick(env: Environment, wanted: (name: string) => boolean): Record<string, string> {
  const picked: Record<string, string> = { ...unreplaced };
  for (const [name, value] of Object.entries(env)) if (value !== undefined && wanted(name)) picked[name] = value;
  return picked;
}
