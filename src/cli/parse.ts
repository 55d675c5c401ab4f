import { Command, CommanderError } from "commander";
import { nearest } from "../core/suggest.js";
import { UserError } from "../lib/errors.js";
import { version } from "../version.js";
import type { Choose, Chosen } from "./context.js";
import { declareBoard } from "./declare/board.js";
import { withExample } from "./declare/example.js";
import { helpLayout } from "./declare/help-layout.js";
import { declareHelpYourself } from "./declare/help-yourself.js";
import { declareLook } from "./declare/look.js";
import { declareProject } from "./declare/project.js";
import { declarePullRequests } from "./declare/pull-request.js";
import { declareRun } from "./declare/run.js";
import { declareServe } from "./declare/serve.js";
import { declareWorkflow } from "./declare/workflow.js";
import type { Output } from "./output.js";
import { spreadIds } from "./spread-ids.js";

/** null: help was asked for and has been printed. */
export function parseArguments(args: readonly string[], out: Output): Chosen | UserError | null {
  let chosen: Chosen | null = null;
  const choose: Choose = (action, external = 1) => {
    chosen = { action, external };
  };
  const program = declare(choose, out);
  try {
    program.parse(spreadIds(withHelpAsked(args)), { from: "user" });
    return chosen;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? null : toUsageError(error, { args, named: nameCommand(program, args) });
  }
}

/** `help run` as `run --help`; nothing at all is a question, too. */
function withHelpAsked(args: readonly string[]): readonly string[] {
  const [first, ...rest] = args;
  return first === undefined || first === "help" ? [...rest, "--help"] : args;
}

function declare(choose: Choose, out: Output): Command {
  const program = new Command("ratchet")
    .description("Lets coding agents solve issues in parallel and does not let go until the work is good.")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "what a command does, with an example")
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => out.text(text),
      writeErr: () => undefined,
      // A terminal that does not know its size says 0.
      getOutHelpWidth: () => out.tableColumns || 80,
    })
    .configureHelp(helpLayout)
    .exitOverride();
  withExample(program, "ratchet demo", "ratchet run --max-agents 2");
  declareHelpYourself(program, choose);
  declareRun(program, choose);
  declareLook(program, choose);
  declareBoard(program, choose);
  declareProject(program, choose);
  declareWorkflow(program, choose);
  declarePullRequests(program, choose);
  declareServe(program, choose);
  for (const command of program.commands) command.helpCommand(false);
  return program.hook("preAction", (_program, command) => takeShared(command));
}

/** What the command above knows too is taken by that one, wherever it stands: it is said of the command that is called. */
function takeShared(command: Command): void {
  for (const name of command.options.map((option) => option.attributeName())) {
    if (command.parent?.getOptionValueSource(name) !== "cli") continue;
    command.setOptionValueWithSource(name, command.parent.getOptionValue(name), "cli");
  }
}

/** Described, but not in this version: saying so is better than "unknown command". */
const notYet = new Set("worker store mcp completion".split(" "));

function toUsageError(
  error: CommanderError,
  { args, named }: { readonly args: readonly string[]; readonly named: string },
): UserError {
  const [first = ""] = args;
  if (error.code === "commander.unknownCommand" && notYet.has(first)) {
    return new UserError(`ratchet ${first} is not available yet`, { code: "not-available", hint: "ratchet --help" });
  }
  if (error.code === "commander.help") {
    return new UserError(`ratchet ${first} needs a command`, { hint: `ratchet ${first} --help lists them` });
  }
  const [message = "", suggestion] = error.message.replace(/^error: /, "").split("\n");
  if (error.code === "commander.excessArguments" && takeText.has(named)) {
    return new UserError(message, { hint: `put the text in quotes: ${named} "…"` });
  }
  if (error.code === "commander.unknownOption" && takeText.has(named)) {
    const hint = `text that begins with a dash comes behind --: ${named} -- "-…"; ${named} --help lists the options`;
    return new UserError(message, { hint });
  }
  return new UserError(message, { hint: nearOf(message, suggestion) ?? `${named} --help` });
}

/** `Did you mean …?`, with what is near; the parser also offers what shares little more than a letter. */
function nearOf(message: string, suggestion = ""): string | null {
  const [, word = ""] = /'([^']*)'/.exec(message) ?? [];
  const [, offered = ""] = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(suggestion) ?? [];
  const near = offered.split(", ").filter((one) => one !== "" && nearest(word, [one]) !== null);
  if (near.length === 0) return null;
  return `Did you mean ${near.length > 1 ? "one of " : ""}${near.join(", ")}?`;
}

/** Whose words are anybody's, a leading dash included. */
const takeText = new Set(["ratchet search", "ratchet work add", "ratchet do"]);

/** The command that the arguments name, as far as there is one. */
function nameCommand(program: Command, args: readonly string[]): string {
  let [command, name] = [program, program.name()];
  for (const word of args) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) break;
    [command, name] = [next, `${name} ${word}`];
  }
  return name;
}
