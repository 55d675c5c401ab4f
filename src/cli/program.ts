import { Command, CommanderError } from "commander";
import { UserError } from "../lib/errors.js";
import { ratchetHome } from "../lib/home.js";
import { version } from "../version.js";
import { type Action, createContext } from "./context.js";
import { declareBoard } from "./declare/board.js";
import { withExample } from "./declare/example.js";
import { declareLook } from "./declare/look.js";
import { declareProject } from "./declare/project.js";
import { declareRun } from "./declare/run.js";
import { keepInLog, printError, tellError } from "./errors.js";
import { type Output, openOutput } from "./output.js";

/** A finished command that left something open behind does not hold the shell. */
const lingerMs = 500;

/** One command line from start to exit code. The process ends by itself, once its output has been taken. */
export async function runProgram(args: readonly string[], host: NodeJS.Process): Promise<void> {
  const out = openOutput(host, host.env);
  const code = await run(args, { cwd: host.cwd(), env: host.env, out });
  host.exitCode = code;
  await out.flushed();
  setTimeout(() => host.exit(code), lingerMs).unref();
}

interface Surroundings {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly out: Output;
}

async function run(args: readonly string[], { cwd, env, out }: Surroundings): Promise<number> {
  const json = args.includes("--json");
  const parsed = parse(args, out);
  if (parsed instanceof UserError) {
    const told = tellError(parsed, 1);
    printError(told, out, json);
    return told.exit;
  }
  if (parsed === null) return 0;
  const context = createContext({ cwd, env }, out);
  try {
    return await parsed.action(context);
  } catch (error) {
    const told = tellError(error, parsed.external);
    printError(told, out, json);
    keepInLog(ratchetHome(env).log, out.redact(told.text));
    return told.exit;
  } finally {
    context.app.close();
  }
}

/** What the command line asks for. `external`: the exit code when something outside of Ratchet fails. */
export interface Chosen {
  readonly action: Action;
  readonly external: 1 | 3;
}
export type Choose = (action: Action, external?: 1 | 3) => void;

/** null: help was asked for and has been printed. */
function parse(args: readonly string[], out: Output): Chosen | UserError | null {
  let chosen: Chosen | null = null;
  const choose: Choose = (action, external = 1) => {
    chosen = { action, external };
  };
  const program = declare(choose, out);
  try {
    program.parse(args.length === 0 ? ["--help"] : args, { from: "user" });
    return chosen;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : toUsageError(error, args);
  }
}

function declare(choose: Choose, out: Output): Command {
  const program = new Command("ratchet")
    .description("Lets coding agents solve issues in parallel and does not let go until the work is good.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "what a command does, with an example")
    .helpCommand(false)
    .configureOutput({ writeOut: (text) => out.text(text), writeErr: () => undefined })
    .exitOverride();
  withExample(program, "ratchet demo", "ratchet run --max-agents 2");
  declareRun(program, choose);
  declareLook(program, choose);
  declareBoard(program, choose);
  declareProject(program, choose);
  return program;
}

/** Described, but not in this version: saying so is better than "unknown command". */
const notYet = new Set(
  "init explain doctor workflow answer pr search observe export serve worker store mcp completion land gc".split(" "),
);

function toUsageError(error: CommanderError, args: readonly string[]): UserError {
  const [first = ""] = args;
  if (error.code === "commander.unknownCommand" && notYet.has(first)) {
    return new UserError(`ratchet ${first} is not available yet`, { code: "not-available", hint: "ratchet --help" });
  }
  if (error.code === "commander.help") {
    return new UserError(`ratchet ${first} needs a command`, { hint: `ratchet ${first} --help lists them` });
  }
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  return new UserError(message, { hint: suggestion?.replace(/^\((.*)\)$/, "$1") ?? "ratchet --help" });
}
