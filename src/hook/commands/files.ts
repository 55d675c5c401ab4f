import { resolve } from "node:path";
import type { Writing } from "../paths.js";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { printable } from "../shell/unknown.js";
import { mustReadBelow, mustWrite, placesOf } from "./access.js";
import { archives } from "./archives.js";
import { type Commands, each } from "./command.js";
import { all, has, type OptionSpec, type Options, parseOptions } from "./options.js";

/** Programs whose arguments are the files that they change. */
export const files: Commands = {
  ...archives,
  rm: destroyer({}),
  rmdir: destroyer({}),
  unlink: destroyer({}),
  rimraf: destroyer({ long: ["glob"] }),
  del: destroyer({}),
  trash: destroyer({}),
  shred: destroyer({ short: "ns", long: ["iterations", "size"] }, "destroys"),
  truncate: destroyer({ short: "sr", long: ["size", "reference"] }, "destroys"),
  touch: writer({ short: "dtr", long: ["date", "reference"] }),
  mkdir: { judged: true, run: makeFolders },
  mkfifo: writer({ short: "m" }),
  mknod: writer({ short: "m" }),
  tee: { judged: true, run: tee },
  sponge: writer({}),
  ...each(["chmod", "chown", "chgrp", "chattr", "setfacl", "chcon"], { judged: true, run: changeMode }),
  ...each(["cp", "install", "ditto", "cpio"], { judged: true, run: copy }),
  mv: { judged: true, run: move },
  rename: { judged: true, run: (call) => destroyAll(call, parseOptions(call.args).operands.slice(1)) },
  ln: { judged: true, run: link },
  link: { judged: true, run: link },
  rsync: { judged: true, run: synchronise },
  dd: { judged: true, run: convert },
  patch: { judged: true, run: patch },
  split: {
    judged: true,
    run: (call) => writeAll(call, parseOptions(call.args, { short: "abClntd" }).operands.slice(1)),
  },
  csplit: { judged: true, run: (call) => writeAll(call, all(parseOptions(call.args, { short: "fbn" }), "f")) },
};

function destroyer(spec: OptionSpec, how: Writing = "removes") {
  return { judged: true, run: (call: Call) => destroyAll(call, parseOptions(call.args, spec).operands, how) };
}

function writer(spec: OptionSpec) {
  return { judged: true, run: (call: Call) => writeAll(call, parseOptions(call.args, spec).operands) };
}

function destroyAll(call: Call, paths: readonly string[], how: Writing = "destroys"): string {
  for (const path of paths) mustWrite(call, path, how);
  return "";
}

function writeAll(call: Call, paths: readonly string[]): string {
  for (const path of paths) mustWrite(call, path);
  return "";
}

function tee(call: Call): string {
  writeAll(call, parseOptions(call.args).operands);
  return call.stdin ?? "";
}

/** What is made here is there for the rest of the line. */
function makeFolders(call: Call): string {
  const { operands } = parseOptions(call.args, { short: "m", long: ["mode"] });
  for (const path of operands) {
    mustWrite(call, path);
    const places = placesOf(call, path);
    if (places.length === 1) for (const place of places) call.shell.session.made.add(resolve(place));
  }
  return "";
}

function changeMode(call: Call): string {
  const options = parseOptions(
    call.args.filter((arg) => !/^-[rwxXst]+$/.test(arg) || arg === "-R" || arg === "-x"),
    {
      long: ["reference"],
    },
  );
  const skip = has(options, "reference") || options.operands.length < 2 ? 0 : 1;
  return destroyAll(call, options.operands.slice(skip));
}

const copyOptions: OptionSpec = { short: "tSmog", long: ["target-directory", "suffix", "mode", "owner", "group"] };

/** Where the files come to: the folder named by -t, or the last operand. */
function targetsOf(options: Options): { readonly targets: readonly string[]; readonly sources: readonly string[] } {
  const named = all(options, "t", "target-directory");
  if (named.length > 0) return { targets: named, sources: options.operands };
  return { targets: options.operands.slice(-1), sources: options.operands.slice(0, -1) };
}

function copy(call: Call): string {
  const options = parseOptions(call.args, call.name === "cpio" ? { short: "FDEHIO" } : copyOptions);
  if (call.name === "cpio") return writeAll(call, [...all(options, "D", "F", "O"), "."]);
  const isFolders = call.name === "install" && has(options, "d", "directory");
  const { targets, sources } = isFolders ? { targets: options.operands, sources: [] } : targetsOf(options);
  writeAll(call, targets);
  if (has(options, "r", "R", "a", "recursive", "archive")) for (const source of sources) mustReadBelow(call, source);
  if (has(options, "l", "link", "s", "symbolic-link") && call.name === "cp")
    for (const source of sources) mustOwn(call, source);
  return "";
}

function move(call: Call): string {
  const { targets, sources } = targetsOf(
    parseOptions(call.args, { short: "tS", long: ["target-directory", "suffix"] }),
  );
  destroyAll(call, sources, "removes");
  return writeAll(call, targets);
}

/** Through a second name of a file outside, the file itself is written. */
function mustOwn(call: Call, path: string): void {
  const { paths } = call.shell.session;
  if (!placesOf(call, path).every((place) => paths.isWritableFolder(place))) {
    refuse(`${call.name}: ${printable(path)} is outside the worktree; copy it instead of linking it`);
  }
}

function link(call: Call): string {
  const options = parseOptions(call.args, { short: "tS", long: ["target-directory", "suffix"] });
  const one = options.operands.length === 1 && !has(options, "t", "target-directory");
  const { targets, sources } = one ? { targets: ["."], sources: options.operands } : targetsOf(options);
  writeAll(call, targets);
  if (!has(options, "s", "symbolic")) for (const source of sources) mustOwn(call, source);
  for (const target of targets) {
    for (const place of placesOf(call, target)) {
      const at = resolve(place);
      call.shell.session.links.add(at === resolve(call.state.cwds[0] ?? "/") ? `${at}/${basenameOf(sources[0])}` : at);
    }
  }
  return "";
}

function basenameOf(path = ""): string {
  return path.split("/").filter(Boolean).at(-1) ?? "";
}

function synchronise(call: Call): string {
  const options = parseOptions(call.args, {
    short: "efBMT",
    long: [
      "rsh",
      "exclude",
      "include",
      "filter",
      "exclude-from",
      "include-from",
      "files-from",
      "temp-dir",
      "log-file",
      "chmod",
    ],
  });
  if (options.operands.some((operand) => /^[^/]*:/.test(operand)))
    refuse("rsync: other machines are not reached from a turn");
  const [shell] = all(options, "e", "rsh");
  if (shell !== undefined) call.shell.runChild(shell, call, []);
  for (const source of options.operands.slice(0, -1)) mustReadBelow(call, source);
  writeAll(call, [...all(options, "log-file", "T", "temp-dir")]);
  for (const target of options.operands.slice(-1)) mustWrite(call, target);
  return "";
}

function convert(call: Call): string {
  for (const arg of call.args) if (arg.startsWith("of=")) mustWrite(call, arg.slice(3));
  return "";
}

function patch(call: Call): string {
  const options = parseOptions(call.args, {
    short: "dioprBDFVYzg",
    long: ["directory", "output", "input", "reject-file"],
  });
  return writeAll(call, [
    ".",
    ...all(options, "d", "directory", "o", "output", "r", "reject-file"),
    ...options.operands.slice(0, 1),
  ]);
}
