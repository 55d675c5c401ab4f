import type { Command } from "commander";
import type { ObserveOptions } from "../commands/observe.js";
import type { SearchOptions } from "../commands/search.js";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

/** The board as a whole: what happened on it, what is in it, all of it as a file. */
export function declareBoardHistory(program: Command, choose: Choose): void {
  const observe = scoped(program.command("observe"))
    .description("what happened on the board, oldest first")
    .option("--since <when>", "only what is younger: 30m, 1h, 2d, or a time")
    .option("--follow", "go on as it happens")
    .option("--json", "print one event per line");
  withExample(observe, "ratchet observe --since 1h --follow").action((options: ObserveOptions) =>
    choose(async (context) => (await import("../commands/observe.js")).observe(context, options)),
  );
  const search = scoped(program.command("search <text...>"))
    .description("find issues and events by their words; the beginning of a word is enough")
    .option("--limit <n>", "at most this many", "50")
    .option("--json", "print JSON");
  withExample(search, "ratchet search login cookie", "ratchet search rework-shop-pr-42").action(
    (words: readonly string[], options: SearchOptions) =>
      choose(async (context) => (await import("../commands/search.js")).searchBoard(context, words, options)),
  );
  const exported = program
    .command("export")
    .description("the whole board as JSON: projects, issues with what they wait for, events")
    .option("--project <id>", "only this project's")
    .option("--json", "the same");
  withExample(exported, "ratchet export > board.json").action((options: { readonly project?: string }) =>
    choose(async (context) => (await import("../commands/export.js")).exportBoard(context, options)),
  );
}

export function scoped(command: Command): Command {
  return command.option("--project <id>", "another project than this folder's").option("--all", "of every project");
}
