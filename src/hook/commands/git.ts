import { refuse } from "../refusal.js";
import { type Call, copyState } from "../shell/session.js";
import { isKnown, printable, unknown } from "../shell/unknown.js";
import { placesOf } from "./access.js";
import type { Commands } from "./command.js";
import { gitChanges } from "./git-changes.js";
import { isReading } from "./git-reading.js";
import { judgeSetting } from "./git-settings.js";

/**
 * A turn has its branch, index and commits for itself. What it may not do: reach another repository, publish, rewrite
 * where its repository gets things from, or throw away what can be needed to find lost work again.
 */
export const gitCommands: Commands = { git: { judged: true, run: git } };

const withValue = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--config-env",
  "--exec-path",
  "--super-prefix",
]);
const harmless =
  /^(color\.|core\.(quotepath|pager|abbrev)|diff\.(renames|algorithm|context|noprefix|mnemonicprefix|colormoved)|log\.|blame\.|advice\.|grep\.|column\.|safe\.directory)/;

function git(call: Call): string | undefined {
  const inner: Call = { ...call, state: copyState(call.state) };
  let at = 0;
  for (; at < call.args.length; at++) {
    const word = call.args[at] ?? "";
    if (!word.startsWith("-")) break;
    const [name = "", attached] = word.startsWith("--") ? splitOnce(word) : [word, null];
    const value = attached ?? (withValue.has(name) ? (call.args[++at] ?? "") : "");
    judgeGlobal(inner, name, value);
  }
  const [subcommand, ...args] = call.args.slice(at);
  if (subcommand === undefined) return undefined;
  if (!isKnown(subcommand)) refuse(`nobody can tell which git command ${printable(subcommand)} is; write it out`);
  judgeSubcommand(inner, subcommand, args);
  return outputOf(inner, subcommand, args);
}

function splitOnce(word: string): [string, string | null] {
  const at = word.indexOf("=");
  return at < 0 ? [word, null] : [word.slice(0, at), word.slice(at + 1)];
}

function judgeGlobal(call: Call, name: string, value: string): void {
  const { guard, paths } = call.shell.session;
  if (name === "-C") call.shell.runArgv(["cd", value], call);
  if (name === "--git-dir" || name === "--work-tree") {
    if (!isKnown(value) || !placesOf(call, value).every((place) => paths.isWritableFolder(place))) {
      refuse(`git ${name} may only name a place in the worktree`);
    }
  }
  if (name === "--exec-path" && value !== "") refuse("git --exec-path is not needed here");
  if (name !== "-c" && name !== "--config-env") return;
  const [key = "", setting] = splitOnce(value);
  if (guard.readOnly && !harmless.test(key.toLowerCase())) refuse(`git -c ${key}: a reviewer needs no such setting`);
  // The value is in a variable then.
  judgeSetting(call, key, name === "-c" ? (setting ?? "true") : unknown.any);
}

function judgeSubcommand(call: Call, subcommand: string, args: readonly string[]): void {
  const { guard, paths } = call.shell.session;
  if (isReading(call, subcommand, args)) return;
  if (guard.readOnly) refuse(`git ${subcommand}: a reviewer uses only the git commands that read`);
  const places = subcommand === "clone" || subcommand === "init" ? [] : call.state.cwds;
  for (const cwd of places) {
    if (!paths.isWritableFolder(cwd))
      refuse(`git ${subcommand} would change the repository in ${cwd}; work only in your worktree`);
  }
  gitChanges(call, subcommand, args);
}

/** What is used in paths most: where the tree is, and which files it has. */
function outputOf(call: Call, subcommand: string, args: readonly string[]): string | undefined {
  const { guard, paths } = call.shell.session;
  const isHere = call.state.cwds.every((cwd) => paths.isInWorktree(cwd));
  if (subcommand === "rev-parse" && args.includes("--show-toplevel")) return isHere ? guard.worktree : undefined;
  if (subcommand === "rev-parse" && args.some((arg) => /git-dir|git-path|common-dir/.test(arg))) return undefined;
  if (["rev-parse", "merge-base", "rev-list", "describe", "hash-object", "write-tree"].includes(subcommand))
    return unknown.name;
  if (subcommand === "branch" && args.includes("--show-current")) return unknown.below;
  if (subcommand === "ls-files" || subcommand === "grep") return isHere ? unknown.below : undefined;
  if (args.includes("--name-only")) return isHere ? unknown.below : undefined;
  return undefined;
}
