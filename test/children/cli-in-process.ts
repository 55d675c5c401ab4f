import { createContext } from "../../src/cli/context.js";
import type { Output } from "../../src/cli/output.js";
import { parseArguments } from "../../src/cli/parse.js";

/**
 * A command of the command line without a process of its own: what a test does before and after what it is about, such as
 * adding an issue or reading a record. Gives what it printed to stdout; whatever goes wrong is thrown.
 */
export async function runInProcess(
  args: readonly string[],
  at: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  let printed = "";
  const print = (text: string) => {
    printed += text;
  };
  const out: Output = {
    line: (text) => print(`${text}\n`),
    note: () => undefined,
    text: print,
    json: (value) => print(`${JSON.stringify(value)}\n`),
    jsonLine: (value) => print(`${JSON.stringify(value)}\n`),
    bytes: (bytes) => print(bytes.toString("utf8")),
    piece: print,
    redact: (text) => text,
    isTerminal: false,
    columns: 80,
    tableColumns: null,
    rows: 24,
    gone: new AbortController().signal,
    isCut: false,
    flushed: async () => undefined,
  };
  const parsed = parseArguments(args, out);
  if (parsed === null) return printed;
  if (parsed instanceof Error) throw parsed;
  const context = createContext(at, out);
  try {
    const code = await parsed.action(context);
    if (code !== 0) throw new Error(`ratchet ${args.join(" ")}: exit ${code}\n${printed}`);
    return printed;
  } finally {
    context.app.close();
  }
}
