import { refuse } from "../refusal.js";
import { type Call, copyState } from "../shell/session.js";
import { isKnown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { changeConfig, judgeSetting } from "./git-settings.js";
import { all, has, type OptionSpec, type Options, parseOptions } from "./options.js";

type Rule = (call: Call, args: readonly string[]) => void;

const publishes: Rule = (call) =>
  refuse(`${call.name}: nothing is pushed from a turn; commit, and Ratchet delivers the commits`);
const keeps: Rule = (call) =>
  refuse(`${call.name}: what can be needed to find work again is kept; leave it to Ratchet`);
const other: Rule = (call) => refuse(`${call.name}: a turn has one worktree and one repository, its own`);

/** The commands that change more than files, index and own commits. What is not here is the turn's own business. */
const rules: Readonly<Record<string, Rule>> = {
  push: publishes,
  "send-pack": publishes,
  "send-email": publishes,
  "http-push": publishes,
  svn: publishes,
  p4: publishes,
  "request-pull": publishes,
  "update-ref": keeps,
  "symbolic-ref": keeps,
  replace: keeps,
  reflog: keeps,
  prune: keeps,
  "filter-branch": keeps,
  "filter-repo": keeps,
  "pack-refs": keeps,
  repack: keeps,
  gc: (call, args) => {
    if (args.some((arg) => /^--(prune|aggressive|cruft|force)/.test(arg))) keeps(call, args);
  },
  worktree: other,
  remote: other,
  credential: (call) => refuse(`${call.name}: a turn needs no passwords`),
  daemon: other,
  instaweb: other,
  maintenance: other,
  config: changeConfig,
  branch: changeBranch,
  tag: (call, args) => {
    if (has(parseOptions(args, { short: "mFu" }), "f", "force")) keeps(call, args);
  },
  checkout: (call, args) => resetsBranch(call, parseOptions(args, { short: "b" }), "B"),
  switch: (call, args) => resetsBranch(call, parseOptions(args, { short: "c" }), "C"),
  fetch: fetches,
  pull: fetches,
  subtree: (call, args) => {
    if (args.includes("push")) publishes(call, args);
  },
  lfs: (call, args) => {
    if (args[0] === "push") publishes(call, args);
  },
  clone: (call, args) =>
    makes(call, args, {
      short: "bocju",
      long: [
        "branch",
        "origin",
        "config",
        "depth",
        "reference",
        "template",
        "filter",
        "jobs",
        "separate-git-dir",
        "upload-pack",
      ],
    }),
  init: (call, args) =>
    makes(call, ["", ...args], { short: "b", long: ["initial-branch", "template", "separate-git-dir"] }),
  "checkout-index": (call, args) => {
    const named = args.flatMap((arg, at) => (/^--p[a-z]*$/.test(arg) ? [args[at + 1] ?? ""] : []));
    const attached = args.flatMap((arg) => /^--p[a-z]*=(.*)$/s.exec(arg)?.[1] ?? []);
    for (const prefix of [...named, ...attached]) mustWrite(call, prefix);
  },
  archive: outputs({ short: "o", long: ["output", "format", "prefix"] }),
  "format-patch": outputs({ short: "o", long: ["output-directory"] }),
  ...Object.fromEntries(
    ["bugreport", "diagnose", "mailsplit"].map((name) => [name, outputs({ short: "o", long: ["output-directory"] })]),
  ),
  ...Object.fromEntries(
    ["fast-export", "fast-import", "read-tree"].map((name) => [
      name,
      outputs({ long: ["export-marks", "index-output"] }),
    ]),
  ),
  grep: (call, args) => {
    const attached = args.flatMap((arg) => /^(?:-\w*O|--open[a-z-]*=)(.+)$/s.exec(arg)?.[1] ?? []);
    for (const text of attached) runText(call, [text]);
  },
  bundle: (call, args) => {
    if (args[1] !== undefined && args[0] === "create") mustWrite(call, args[1]);
  },
  apply: (_, args) => {
    const options = parseOptions(args, { short: "pC", long: ["directory"] });
    if (has(options, "unsafe-paths")) refuse("git apply: the files stay in the worktree; leave --unsafe-paths away");
  },
  submodule: (call, args) => {
    const at = args.indexOf("foreach");
    if (at >= 0)
      runText(
        call,
        args.slice(at + 1).filter((arg) => !arg.startsWith("--")),
      );
  },
  bisect: (call, args) => {
    if (args[0] === "run" && args.length > 1)
      call.shell.runArgv(args.slice(1), { ...call, state: copyState(call.state) });
  },
  rebase: (call, args) => {
    for (const text of all(parseOptions(args, { short: "xsX", long: ["exec", "onto"] }), "x", "exec"))
      runText(call, [text]);
  },
  difftool: (call, args) => {
    for (const text of all(parseOptions(args, { short: "xt", long: ["extcmd", "tool"] }), "x", "extcmd"))
      runText(call, [text]);
  },
};

export function gitChanges(call: Call, subcommand: string, args: readonly string[]): void {
  const rule = rules[subcommand];
  if (rule !== undefined && Object.hasOwn(rules, subcommand)) rule({ ...call, name: `git ${subcommand}` }, args);
}

function runText(call: Call, words: readonly string[]): void {
  const text = words.join(" ");
  if (!isKnown(text)) refuse(`${call.name}: nobody can tell what it would run; write the command out`);
  call.shell.runChild(text, call, []);
}

function changeBranch(_: Call, args: readonly string[]): void {
  const options = parseOptions(args, { short: "u", long: ["set-upstream-to"] });
  if (has(options, "d", "D", "delete", "m", "M", "move", "f", "force", "C")) {
    refuse("git branch: branches are neither deleted, moved nor renamed in a turn; leave them, or make a new one");
  }
}

function resetsBranch(call: Call, options: Options, letter: string): void {
  if (has(options, letter, "force-create"))
    refuse(`${call.name} -${letter} may move somebody's branch; give a new name`);
}

/** `a:b` writes a ref of that name. */
function fetches(call: Call, args: readonly string[]): void {
  const options = parseOptions(args, { short: "jo", long: ["depth", "upload-pack", "refmap", "jobs"] });
  if (has(options, "upload-pack")) refuse(`${call.name}: leave --upload-pack away`);
  for (const refspec of options.operands.slice(1)) {
    const [, target] = refspec.split(":");
    if (target !== undefined && target !== "" && !target.startsWith("refs/remotes/")) {
      refuse(`${call.name}: ${refspec} would move a branch; fetch without a target and use FETCH_HEAD`);
    }
  }
}

function makes(call: Call, args: readonly string[], spec: OptionSpec): void {
  const options = parseOptions(args, spec);
  mustWrite(call, options.operands[1] ?? ".");
  for (const folder of all(options, "separate-git-dir")) mustWrite(call, folder);
  for (const program of all(options, "u", "upload-pack")) runText(call, [program]);
  for (const setting of all(options, "c", "config")) {
    const [key = "", ...value] = setting.split("=");
    judgeSetting(call, key, value.join("="));
  }
}

function outputs(spec: OptionSpec): Rule {
  return (call, args) => {
    for (const path of all(parseOptions(args, spec), "o", ...(spec.long ?? []).filter(isOutput))) mustWrite(call, path);
  };
}

function isOutput(name: string): boolean {
  return name.includes("output") || name === "export-marks";
}
