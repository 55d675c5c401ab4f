import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { unknown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import type { Command } from "./command.js";
import { all, has, parseOptions } from "./options.js";

const spec = { short: "FvfiE", long: ["assign", "field-separator", "file", "include", "load"] };

export const awk: Command = {
  judged: true,
  reads: (args) => {
    const options = parseOptions(args, spec);
    return has(options, "f", "file") ? options.operands : options.operands.slice(1);
  },
  run,
};

/** The program text is looked at for the places where awk writes or starts something. */
function run(call: Call): undefined {
  const options = parseOptions(call.args, spec);
  const { readOnly } = call.shell.session.guard;
  const [text = "", ...files] = options.operands;
  if (all(options, "i", "include").includes("inplace")) for (const file of files) mustWrite(call, file);
  if (has(options, "f", "file", "E")) {
    if (readOnly) refuse("awk: a reviewer gives the program on the command line");
    return undefined;
  }
  if (readOnly && (/\bsystem\s*\(|\bgetline\b|@load|\bprintf?\b[^;}\n]*>/.test(text) || /[^|]\|[^|]/.test(text))) {
    refuse("awk: a reviewer's program neither writes files nor starts others");
  }
  for (const [, file = ""] of text.matchAll(/>>?\s*"([^"\n]*)"/g)) if (!isNumber(file)) mustWrite(call, file);
  for (const [, command = ""] of text.matchAll(/(?:\bsystem\s*\(\s*|\|&?\s*)"((?:[^"\\\n]|\\.)*)"/g)) {
    call.shell.runChild(command.replace(/\\(.)/g, "$1"), { ...call, stdin: unknown.any }, []);
  }
  return undefined;
}

function isNumber(text: string): boolean {
  return /^\d*$/.test(text);
}
