import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown, unknown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import type { Command } from "./command.js";
import { all, has, parseOptions } from "./options.js";

export const sed: Command = { judged: true, reads: (args) => operandsOf(args).files, run: run };

const spec = { short: "efl", long: ["expression", "file", "line-length"] };

function operandsOf(args: readonly string[]) {
  // BSD's `-i ''` has its value in the next word.
  const at = args.indexOf("-i");
  const words = at >= 0 && args[at + 1] === "" ? args.filter((_, index) => index !== at + 1) : args;
  const options = parseOptions(
    words.map((word) => (/^-[nErsuz]*i./.test(word) ? word.replace(/i.*$/, "i") : word)),
    spec,
  );
  const named = all(options, "e", "expression");
  const scripts = named.length > 0 || has(options, "f", "file") ? named : options.operands.slice(0, 1);
  const files = named.length > 0 || has(options, "f", "file") ? options.operands : options.operands.slice(1);
  return { options, scripts, files };
}

function run(call: Call): string | undefined {
  const { options, scripts, files } = operandsOf(call.args);
  const isInPlace = has(options, "i", "in-place");
  if (isInPlace) for (const file of files) mustWrite(call, file);
  if (call.shell.session.guard.readOnly && has(options, "f", "file"))
    refuse("sed: a reviewer gives the script on the command line");
  for (const script of scripts) judgeScript(call, script);
  if (isInPlace) return "";
  return files.length > 0 ? unknown.file : undefined;
}

/** One address or a range: `3`, `$`, `/x/`, `2,/y/`. */
const address = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)`;
const range = String.raw`(?:${address}(?:\s*,\s*[+~]?${address})?\s*!?\s*)?`;
const substitute = String.raw`s([^\w\s\\])(?:(?!\1)[^\\\n]|\\[\s\S])*\1(?:(?!\1)[^\\]|\\[\s\S])*\1[gpiImM0-9]*`;
const simple = new RegExp(String.raw`^(?:${range}(?:[pdqDPNGHhgxnl=]|${substitute})?\s*(?:[;\n]|$)\s*)`);

/** Simple scripts change text alone; of the others, `w` and `e` are looked at. */
function judgeScript(call: Call, script: string): void {
  if (isSimple(script)) return;
  const { readOnly } = call.shell.session.guard;
  if (readOnly) refuse("sed: a reviewer uses simple scripts only, such as 1,20p or s/a/b/");
  for (const [, file = ""] of script.matchAll(/(?:^|[;{}\n/!0-9$gpiI]|\s)[wW]\s+([^\n;}]+)/g)) {
    if (/^[/.~]/.test(file) && isKnown(file)) mustWrite(call, file.trim());
  }
  const shell = /(?:^|[;{}\n]|[0-9$/]\s*)e\s+([^\n]+)/.exec(script);
  if (shell?.[1] !== undefined) call.shell.runChild(shell[1], call, []);
}

function isSimple(script: string): boolean {
  let rest = script.trim();
  for (let rounds = 0; rest !== "" && rounds < 200; rounds++) {
    const found = simple.exec(rest);
    if (found === null || found[0] === "") return false;
    rest = rest.slice(found[0].length);
  }
  return rest === "";
}
