import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown, unknown } from "../shell/unknown.js";
import { placesOf } from "./access.js";
import { judgeSetting } from "./git-settings.js";

const repositories = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|CONFIG|CONFIG_GLOBAL)$/;
const programs =
  /^(GIT_(SSH_COMMAND|SSH|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|PAGER|EDITOR|VISUAL|LESSOPEN|PROMPT_COMMAND)$/;
const loaders = /^(LD_PRELOAD|LD_LIBRARY_PATH|DYLD_.*|BASH_ENV|ENV|PATH|GIT_CONFIG_.*|GIT_EXEC_PATH)$/;

/** `a[$(command)]`: where bash wants a variable's name it runs the command, quoted or not. */
export function isSubscript(text: string): boolean {
  return /^[A-Za-z_]\w*\[[^\]]*(\$\(|`)/.test(text);
}

/** Variables by which another program is led elsewhere, or starts one. */
export function judgeVariable(name: string, value: string, call: Call): void {
  const { guard, paths } = call.shell.session;
  if (repositories.test(name) && value !== "" && value !== "/dev/null") {
    const inside = isKnown(value) && placesOf(call, value).every((place) => paths.isWritableFolder(place));
    if (!inside) refuse(`${name} may only name a place in the worktree`);
  }
  if (programs.test(name) && isKnown(value) && value !== "") call.shell.runChild(value, call, []);
  // Arithmetic and `test -v` run it when they read the variable.
  if (isSubscript(value)) refuse(`${name}: a subscript that runs a command; run the command first`);
  if (name === "MAKEFLAGS" && /--ev|-\w*E/.test(value)) refuse(`${name}: nobody judges rules that are not in a file`);
  // The same as `git -c`, and as `alias`.
  if (/^GIT_CONFIG_KEY_\d+$/.test(name)) judgeSetting(call, value, unknown.any);
  if (name === "GIT_CONFIG_PARAMETERS") refuse(`${name} is git's own; use git -c`);
  if (name === "BASH_ALIASES" || name === "BASH_CMDS") refuse(`${name} hides what is run; use a function`);
  if (guard.readOnly && loaders.test(name)) refuse(`a reviewer does not set ${name}`);
}
