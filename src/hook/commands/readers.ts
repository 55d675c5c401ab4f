import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown, unknown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { awk } from "./awk.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";
import { sed } from "./sed.js";

/** Programs that read files or their input and print. */
export const readers: Commands = {
  ...each(["head", "tail", "sort", "shuf", "tac", "nl"], { judged: true, run: filter }),
  cat: { judged: true, run: cat },
  uniq: { judged: true, run: uniq },
  tr: { judged: true, reads: () => [], run: tr },
  ...each(
    ["wc", "cksum", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "shasum", "b2sum", "sum"],
    {
      judged: true,
    },
  ),
  ...each(
    [
      "cut",
      "rev",
      "fold",
      "fmt",
      "column",
      "paste",
      "join",
      "expand",
      "unexpand",
      "strings",
      "od",
      "hexdump",
      "base32",
      "base64",
    ],
    {
      judged: true,
    },
  ),
  ...each(
    [
      "diff",
      "cmp",
      "comm",
      "diff3",
      "sdiff",
      "colordiff",
      "delta",
      "stat",
      "file",
      "du",
      "less",
      "more",
      "bat",
      "batcat",
    ],
    {
      judged: true,
    },
  ),
  ...each(
    ["zcat", "bzcat", "xzcat", "zstdcat", "nm", "objdump", "readelf", "size", "cloc", "tokei", "scc", "exa", "eza"],
    { judged: true },
  ),
  ...each(["jq", "gojq"], { judged: true }),
  yq: { judged: true, run: inPlace(["i", "inplace", "in-place"]) },
  xxd: { judged: true, run: (call) => writeSecond(call, { short: "clsog" }) },
  iconv: { judged: true, run: (call) => writeOption(call, { short: "fto" }, ["o", "output"]) },
  tree: { judged: true, run: (call) => writeOption(call, { short: "oLPIH" }, ["o"]) },
  sed,
  gsed: sed,
  ...each(["awk", "gawk", "mawk", "nawk"], awk),
};

function cat(call: Call): string {
  const { operands } = parseOptions(call.args);
  const files = operands.filter((operand) => operand !== "-");
  return files.length === 0 ? (call.stdin ?? "") : unknown.file;
}

/** Lines in, some of them out. */
function filter(call: Call): string | undefined {
  const options = parseOptions(
    call.args.filter((arg) => !/^-\d+$/.test(arg)),
    { short: "nckostTSb", long: ["lines", "bytes", "output"] },
  );
  if (call.name === "sort" || call.name === "shuf")
    for (const file of all(options, "o", "output")) mustWrite(call, file);
  if (call.name === "sort") for (const text of all(options, "compress-program")) call.shell.runChild(text, call, []);
  const files = options.operands.filter((operand) => operand !== "-");
  return files.length === 0 ? (call.stdin ?? "") : unknown.file;
}

function uniq(call: Call): string {
  const { operands } = parseOptions(call.args, { short: "fsw" });
  if (operands[1] !== undefined) mustWrite(call, operands[1]);
  return operands.length === 0 ? (call.stdin ?? "") : unknown.file;
}

/** Only separators are exchanged: names stay names. */
function tr(call: Call): string | undefined {
  const sets = call.args.filter((arg) => !/^-[dscC]+$/.test(arg));
  return sets.every((set) => /^(\\n|\\0|\\r| |,|\n)+$/.test(set)) ? (call.stdin ?? "") : undefined;
}

function writeSecond(call: Call, spec: { short: string }): undefined {
  const [, output] = parseOptions(call.args, spec).operands;
  if (output !== undefined) mustWrite(call, output);
  return undefined;
}

function writeOption(call: Call, spec: { short: string }, names: readonly string[]): undefined {
  for (const file of all(parseOptions(call.args, spec), ...names)) mustWrite(call, file);
  return undefined;
}

/** Programs that print, unless they are told to change the files that they read. */
function inPlace(names: readonly string[]): (call: Call) => undefined {
  return (call) => {
    const options = parseOptions(call.args);
    if (!has(options, ...names)) return undefined;
    const files = options.operands.slice(1);
    if (files.length === 0 && !options.operands.every(isKnown)) refuse(`${call.name}: write out which file is changed`);
    for (const file of files) mustWrite(call, file);
    return undefined;
  };
}
