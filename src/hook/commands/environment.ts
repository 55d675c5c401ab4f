import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown } from "../shell/unknown.js";
import { placesOf } from "./access.js";

const repositories = /^GIT_(DIR|WORK_TREE|INDEX_FILE|COMMON_DIR|OBJECT_DIRECTORY|CONFIG|CONFIG_GLOBAL)$/;
const programs =
  /^(GIT_(SSH_COMMAND|SSH|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|PAGER|EDITOR|VISUAL|LESSOPEN|PROMPT_COMMAND)$/;
const loaders = /^(LD_PRELOAD|LD_LIBRARY_PATH|DYLD_.*|BASH_ENV|ENV|PATH|GIT_CONFIG_.*|GIT_EXEC_PATH)$/;

/** Variables by which another program is led elsewhere, or starts one. */
export function judgeVariable(name: string, value: string, call: Call): void {
  const { guard, paths } = call.shell.session;
  if (repositories.test(name) && value !== "" && value !== "/dev/null") {
    const inside = isKnown(value) && placesOf(call, value).every((place) => paths.isWritableFolder(place));
    if (!inside) refuse(`${name} may only name a place in the worktree`);
  }
  if (programs.test(name) && isKnown(value) && value !== "") call.shell.runChild(value, call, []);
  if (guard.readOnly && loaders.test(name)) refuse(`a reviewer does not set ${name}`);
}
