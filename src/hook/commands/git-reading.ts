import type { Call } from "../shell/session.js";
import { isKnown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { all, has, parseOptions } from "./options.js";

const always = new Set(
  [
    "log",
    "diff",
    "show",
    "status",
    "blame",
    "annotate",
    "grep",
    "ls-files",
    "ls-tree",
    "rev-parse",
    "rev-list",
    "cat-file",
  ]
    .concat([
      "merge-base",
      "for-each-ref",
      "show-ref",
      "show-branch",
      "name-rev",
      "describe",
      "shortlog",
      "whatchanged",
    ])
    .concat([
      "diff-tree",
      "diff-index",
      "diff-files",
      "check-ignore",
      "check-attr",
      "cherry",
      "range-diff",
      "count-objects",
    ])
    .concat([
      "var",
      "version",
      "help",
      "verify-commit",
      "verify-tag",
      "ls-remote",
      "fsck",
      "get-tar-commit-id",
      "diff-pairs",
    ]),
);

/** Only with these words first does the command read. */
const firstWords: Readonly<Record<string, readonly string[]>> = {
  stash: ["list", "show"],
  remote: ["", "-v", "--verbose", "show", "get-url"],
  worktree: ["list"],
  reflog: ["", "show", "exists"],
  notes: ["", "show", "list"],
  submodule: ["", "status", "summary"],
  bisect: ["log", "visualize", "view"],
  lfs: ["ls-files", "status", "env"],
  bundle: ["verify", "list-heads"],
  "sparse-checkout": ["list"],
};

/** Whether the command changes neither files nor the repository. */
export function isReading(call: Call, subcommand: string, args: readonly string[]): boolean {
  if (always.has(subcommand)) return onlyPrints(call, args);
  const words = Object.hasOwn(firstWords, subcommand) ? firstWords[subcommand] : undefined;
  if (words !== undefined) return words.includes(args[0] ?? "");
  if (subcommand === "branch") return readsBranches(args);
  if (subcommand === "tag") return readsTags(args);
  if (subcommand === "config") return readsConfig(args);
  if (subcommand === "symbolic-ref")
    return parseOptions(args).operands.length === 1 && !has(parseOptions(args), "d", "delete");
  return false;
}

/** `--output` writes, `-O` of grep and `--ext-diff` start other programs. */
function onlyPrints(call: Call, args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = parseOptions(end < 0 ? args : args.slice(0, end), { long: ["output", "upload-pack"] });
  for (const file of all(options, "output")) mustWrite(call, file);
  return (
    !has(options, "ext-diff", "open-files-in-pager", "upload-pack", "textconv") &&
    !args.some((arg) => /^-O./.test(arg) && call.args.includes("grep"))
  );
}

const listing = new Set(
  ["a", "r", "v", "vv", "l", "list", "all", "remotes", "verbose", "show-current", "contains", "no-contains"].concat([
    "merged",
    "no-merged",
    "sort",
    "points-at",
    "format",
    "column",
    "no-column",
    "color",
    "no-color",
    "abbrev",
    "i",
  ]),
);

function readsBranches(args: readonly string[]): boolean {
  const options = parseOptions(args, {
    long: ["contains", "no-contains", "merged", "no-merged", "sort", "points-at", "format"],
  });
  const names = [...options.values.keys()];
  const lists = names.some((name) => name !== "v" && name !== "vv" && name !== "verbose");
  return names.every((name) => listing.has(name)) && (options.operands.length === 0 || lists);
}

function readsTags(args: readonly string[]): boolean {
  const options = parseOptions(args, { short: "n", long: ["contains", "sort", "points-at", "format", "merged"] });
  const names = [...options.values.keys()];
  return (
    names.every((name) => listing.has(name) || name === "n") && (options.operands.length === 0 || names.length > 0)
  );
}

function readsConfig(args: readonly string[]): boolean {
  const options = parseOptions(args, { short: "f", long: ["file", "blob", "type", "default"] });
  const [first] = options.operands;
  if (first === "get" || first === "list") return true;
  if (has(options, "get", "get-all", "get-regexp", "get-urlmatch", "l", "list", "get-color")) return true;
  const changes = ["unset", "unset-all", "add", "replace-all", "remove-section", "rename-section", "edit", "e"];
  if (!isKnown(first ?? "")) return false;
  return options.operands.length === 1 && !has(options, ...changes) && !["set", "unset", "edit"].includes(first ?? "");
}
