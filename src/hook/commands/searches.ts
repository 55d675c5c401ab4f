import type { Call } from "../shell/session.js";
import { unknown } from "../shell/unknown.js";
import { mustReadBelow, mustWrite } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, type Options, parseOptions } from "./options.js";

const grepSpec = {
  short: "efmABCdDg",
  long: [
    "regexp",
    "file",
    "max-count",
    "include",
    "exclude",
    "exclude-dir",
    "after-context",
    "before-context",
    "context",
    "color",
  ],
};
const ripSpec = {
  short: "efmABCgtTjdEMr",
  long: [
    "regexp",
    "file",
    "max-count",
    "glob",
    "iglob",
    "type",
    "type-not",
    "after-context",
    "before-context",
    "context",
    "sort",
    "max-depth",
    "pre",
    "replace",
    "colors",
  ],
};

/** Programs that look for files or lines, and print paths below the folders they looked in. */
export const searches: Commands = {
  ...each(["grep", "egrep", "fgrep", "zgrep"], {
    judged: true,
    reads: (args) => filesOf(parseOptions(args, grepSpec)),
    run: grep,
  }),
  ...each(["rg", "ag", "ack"], { judged: true, reads: (args) => filesOf(parseOptions(args, ripSpec)), run: ripgrep }),
  ls: { judged: true, run: list },
  dir: { judged: true, run: list },
  find: { judged: true, reads: (args) => splitFind(args).roots, run: find },
  ...each(["fd", "fdfind"], { judged: true, reads: () => [], run: fd }),
  ...each(["locate", "mdfind"], { judged: true, reads: () => [] }),
};

/** The first operand is the pattern, unless an option gave it. */
function filesOf(options: Options): readonly string[] {
  return has(options, "e", "regexp", "f", "file", "files") ? options.operands : options.operands.slice(1);
}

function below(roots: readonly string[]): string {
  if (roots.length === 0) return unknown.below;
  return roots.map((root) => (root.endsWith("/") ? `${root}${unknown.below}` : `${root}/${unknown.below}`)).join("\n");
}

function grep(call: Call): string | undefined {
  const options = parseOptions(call.args, grepSpec);
  const roots = filesOf(options);
  const isDeep = has(options, "r", "R", "recursive", "dereference-recursive");
  if (isDeep) for (const root of roots) mustReadBelow(call, root);
  if (has(options, "l", "L", "files-with-matches", "files-without-match"))
    return isDeep ? below(roots) : roots.join("\n");
  return roots.length === 0 && !isDeep && !has(options, "o", "only-matching") ? (call.stdin ?? undefined) : undefined;
}

function ripgrep(call: Call): string | undefined {
  const options = parseOptions(call.args, ripSpec);
  const roots = filesOf(options);
  if (call.stdin === null || roots.length > 0) for (const root of roots) mustReadBelow(call, root);
  for (const program of all(options, "pre")) call.shell.runChild(program, call, []);
  if (has(options, "l", "files-with-matches", "files", "files-without-match")) return below(roots);
  return roots.length === 0 ? (call.stdin ?? undefined) : undefined;
}

/** Names of what is in folders, and file operands as they were given. */
function list(call: Call): string | undefined {
  const options = parseOptions(call.args, { short: "ITw" });
  if (has(options, "l", "s", "i", "F", "p")) return undefined;
  return [...options.operands, unknown.name].join("\n");
}

function splitFind(args: readonly string[]): { roots: readonly string[]; rest: readonly string[] } {
  let start = 0;
  while (/^-([HLP]|O\d?|D)$/.test(args[start] ?? "")) start += args[start] === "-D" ? 2 : 1;
  const found = args.findIndex((arg, at) => at >= start && /^[-(!]/.test(arg));
  const end = found < 0 ? args.length : found;
  const roots = args.slice(start, end);
  return { roots: roots.length === 0 ? ["."] : roots, rest: args.slice(end) };
}

function find(call: Call): string | undefined {
  const { roots, rest } = splitFind(call.args);
  for (let at = 0; at < rest.length; at++) {
    const word = rest[at] ?? "";
    if (word === "-delete") for (const root of roots) mustWrite(call, `${root}/${unknown.below}`, "destroys");
    if (/^-(fprint0?|fprintf|fls)$/.test(word)) mustWrite(call, rest[at + 1] ?? "");
    if (/^-(exec|execdir|ok|okdir)$/.test(word)) at = runEach(call, { roots, rest, at });
  }
  return rest.some((word) => word === "-printf" || word === "-ls") ? undefined : below(roots);
}

interface FindPoint {
  readonly roots: readonly string[];
  readonly rest: readonly string[];
  readonly at: number;
}

/** The command behind -exec, with what was found below each root in place of {}. */
function runEach(call: Call, { roots, rest, at }: FindPoint): number {
  const found = rest.findIndex(
    (word, index) => index > at && (word === ";" || (word === "+" && rest[index - 1] === "{}")),
  );
  const end = found < 0 ? rest.length : found;
  for (const root of roots) {
    const argv = rest.slice(at + 1, end).map((word) => word.replaceAll("{}", () => `${root}/${unknown.below}`));
    if (argv.length > 0) call.shell.runArgv(argv, call);
  }
  return end;
}

function fd(call: Call): string | undefined {
  const at = call.args.findIndex((arg) => /^(-x|-X|--exec|--exec-batch)$/.test(arg));
  const options = parseOptions(at < 0 ? call.args : call.args.slice(0, at), {
    short: "etdEcSgjo",
    long: ["extension", "type", "max-depth", "exclude"],
  });
  const roots = options.operands.slice(1);
  if (at >= 0) {
    const found = `${roots[0] ?? "."}/${unknown.below}`;
    const argv = call.args.slice(at + 1).map((word) => word.replaceAll(/\{[./]*\}/g, () => found));
    call.shell.runArgv(call.args.some((arg) => /\{[./]*\}/.test(arg)) ? argv : [...argv, found], call);
  }
  return below(roots);
}
