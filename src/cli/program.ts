import { codeOf, UserError } from "../lib/errors.js";
import { runToEnd } from "../lib/run-to-end.js";
import { validateWorkflow } from "./commands/workflow-validate.js";
import { type Chosen, type Context, createContext } from "./context.js";
import { keepInLog, printError, tellError } from "./errors.js";
import { type Output, openOutput } from "./output.js";

/** A finished command that left something open behind does not hold the shell. */
const lingerMs = 500;

/** One command line from start to exit code. The process ends by itself, once its output has been taken. */
export function runProgram(args: readonly string[], host: NodeJS.Process): void {
  runToEnd(async () => {
    const out = openOutput(host, host.env);
    const code = await run(args, { host, out });
    host.exitCode = code;
    await out.flushed();
    if (out.isCut) host.exitCode ||= 1;
    setTimeout(() => host.exit(), lingerMs).unref();
  });
}

interface Surroundings {
  readonly host: NodeJS.Process;
  readonly out: Output;
}

async function run(args: readonly string[], { host, out }: Surroundings): Promise<number> {
  const json = args.includes("--json");
  const parsed = quickly(args) ?? (await import("./parse.js")).parseArguments(args, out);
  if (parsed instanceof UserError) {
    const told = tellError(parsed, 1);
    printError(told, out, json);
    return told.exit;
  }
  if (parsed === null) return 0;
  const { env } = host;
  let context: Context | null = null;
  try {
    context = createContext({ cwd: folderOf(host), env }, out);
    return await parsed.action(context);
  } catch (error) {
    const told = tellError(error, parsed.external);
    printError(told, out, json);
    keepInLog(env, out.redact(told.text));
    return told.exit;
  } finally {
    context?.app.close();
  }
}

function folderOf(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    throw new UserError("the folder that this was started in is gone", {
      code: "no-folder",
      hint: "change to one that is there",
    });
  }
}

/** What people run again and again does not wait for the parser of all the others. */
function quickly(args: readonly string[]): Chosen | null {
  const [command, ...flags] = args;
  if (command === "workflow") return quickWorkflow(flags);
  if (command !== "status" || flags.some((flag) => flag !== "--json")) return null;
  const json = flags.length > 0;
  return {
    action: async (context) => (await import("./commands/status.js")).showStatus(context, { json }),
    external: 1,
  };
}

/** Editors check a file each time it is saved. */
function quickWorkflow([verb, what, ...flags]: readonly string[]): Chosen | null {
  if (verb !== "validate" || what === undefined || what.startsWith("-")) return null;
  if (flags.some((flag) => flag !== "--json")) return null;
  const json = flags.length > 0;
  return {
    action: (context) => validateWorkflow(context, what, { json }),
    external: 1,
  };
}
