import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { unknown } from "../shell/unknown.js";
import { mustReadBelow, mustWrite } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

export const archives: Commands = {
  ...each(["tar", "bsdtar", "gtar"], { judged: true, run: tar }),
  unzip: { judged: true, run: unzip },
  zip: { judged: true, run: zip },
  ...each(["7z", "7za", "7zz"], { judged: true, run: sevenZip }),
  ...each(["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "compress"], {
    judged: true,
    run: compress,
  }),
};

const tarOptions = {
  short: "CfTXbIKNVgHFL",
  long: [
    "directory",
    "file",
    "files-from",
    "exclude",
    "transform",
    "use-compress-program",
    "to-command",
    "checkpoint-action",
  ],
};

function tar(call: Call): undefined {
  const [first = "", ...rest] = call.args;
  // The old way: the first word is options without a dash.
  const isOld = first !== "" && !first.startsWith("-");
  const options = parseOptions(isOld ? oldStyle(first, rest) : call.args, tarOptions);
  if (has(options, "P", "absolute-names")) refuse("tar: names stay below the folder; leave -P away");
  for (const text of all(options, "to-command", "I", "use-compress-program")) call.shell.runChild(text, call, []);
  for (const text of all(options, "checkpoint-action"))
    if (text.startsWith("exec=")) call.shell.runChild(text.slice(5), call, []);
  const folders = all(options, "C", "directory");
  if (has(options, "x", "extract", "get")) {
    if (!has(options, "O", "to-stdout"))
      for (const folder of folders.length > 0 ? folders : ["."]) mustWrite(call, folder);
    return undefined;
  }
  if (has(options, "t", "list")) return undefined;
  for (const file of all(options, "f", "file")) if (file !== "-") mustWrite(call, file);
  for (const source of options.operands) mustReadBelow(call, source);
  for (const folder of folders) mustReadBelow(call, folder);
  return undefined;
}

/** `tar xfC a.tar dir`: the values follow in the order of their letters. */
function oldStyle(letters: string, rest: readonly string[]): string[] {
  const values = [...rest];
  const options = [...letters].map((letter) =>
    tarOptions.short.includes(letter) ? `-${letter}${values.shift() ?? ""}` : `-${letter}`,
  );
  return [...options, ...values];
}

function unzip(call: Call): undefined {
  const options = parseOptions(call.args, { short: "dxP" });
  if (has(options, "l", "Z", "t", "p", "v")) return undefined;
  for (const folder of has(options, "d") ? all(options, "d") : ["."]) mustWrite(call, folder);
  return undefined;
}

function zip(call: Call): undefined {
  const options = parseOptions(call.args, { short: "xibtnOP", long: ["exclude", "include", "out"] });
  const [archive, ...sources] = options.operands;
  if (archive !== undefined && archive !== "-") mustWrite(call, archive);
  for (const file of all(options, "O", "out")) mustWrite(call, file);
  if (has(options, "r", "recurse-paths")) for (const source of sources) mustReadBelow(call, source);
  if (has(options, "m", "move")) for (const source of sources) mustWrite(call, source, "destroys");
  return undefined;
}

function sevenZip(call: Call): undefined {
  const [action = "", ...rest] = call.args;
  if (action === "l" || action === "t") return undefined;
  const folders = rest.filter((arg) => /^-o./.test(arg)).map((arg) => arg.slice(2));
  const [archive = ""] = rest.filter((arg) => !arg.startsWith("-"));
  if (action === "x" || action === "e")
    for (const folder of folders.length > 0 ? folders : ["."]) mustWrite(call, folder);
  else mustWrite(call, archive);
  return undefined;
}

function compress(call: Call): string | undefined {
  const options = parseOptions(call.args, { short: "SoT", long: ["suffix", "threads"] });
  for (const file of all(options, "o")) mustWrite(call, file);
  if (has(options, "c", "stdout", "to-stdout", "l", "t", "test", "list")) return undefined;
  for (const file of options.operands) if (file !== "-") mustWrite(call, file, "destroys");
  return options.operands.length === 0 && call.stdin === null ? unknown.any : undefined;
}
