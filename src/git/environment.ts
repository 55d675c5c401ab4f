/**
 * The surroundings of every git command of ours: no editor, no prompt, no pager, no hook, nothing in the background,
 * English messages, and nothing of the caller's that would point git at another repository.
 */

/** `GIT_*` variables that a user sets on purpose and that say nothing about where a repository is. */
const kept =
  /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_.*|HTTP_.*|PROXY_.*|CONFIG_GLOBAL|CONFIG_SYSTEM|CONFIG_NOSYSTEM|ATTR_NOSYSTEM|EXEC_PATH|CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$/;

/** Settings that win over every configuration file. */
const settings: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.quotePath", "false"],
  ["gc.auto", "0"],
  ["gc.autoDetach", "false"],
  ["maintenance.auto", "false"],
  ["commit.gpgSign", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["fetch.writeCommitGraph", "false"],
  ["protocol.file.allow", "always"],
  ["color.ui", "false"],
  ["diff.noprefix", "false"],
  ["diff.mnemonicPrefix", "false"],
  ["log.showSignature", "false"],
  ["merge.autoStash", "false"],
  ["status.submoduleSummary", "false"],
  // Ratchet's own repositories have no checkout, and whoever forbids such means others. The last one: asUserSays leaves it out.
  ["safe.bareRepository", "all"],
];

const fixed: Readonly<Record<string, string>> = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_PAGER: "cat",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  // Without a terminal (every command has its own session) and without an askpass program ssh cannot ask anything.
  SSH_ASKPASS_REQUIRE: "never",
  GCM_INTERACTIVE: "never",
  GIT_MERGE_AUTOEDIT: "no",
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${index}`, key],
      [`GIT_CONFIG_VALUE_${index}`, value],
    ]),
  ),
};

/** Where a person has gone to: whether git works with a repository that it finds there is for their settings to say. */
export const asUserSays: Readonly<Record<string, string>> = { GIT_CONFIG_COUNT: String(settings.length - 1) };

export function gitEnvironment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_") || kept.test(name));
  return { ...Object.fromEntries(inherited), ...fixed, ...extra };
}
