import type { Command } from "commander";
import type { ScopeOptions } from "../board-scope.js";
import type { AddOptions } from "../commands/work-add.js";
import type { ClaimOptions, ItemOptions } from "../commands/work-change.js";
import type { ListOptions } from "../commands/work-list.js";
import type { Choose } from "../context.js";
import { declareBoardHistory, scoped } from "./board-history.js";
import { collect, collectIds, withExample } from "./example.js";

const change = () => import("../commands/work-change.js");

export function declareBoard(program: Command, choose: Choose): void {
  const work = program.command("work").description("the board: add, look at and change issues");
  withExample(work, 'ratchet work add "Fix the login" --priority P1');
  declareAdd(work, choose);
  declareList(work, choose);
  declareClaims(work, choose);
  declareChanges(work, choose);
  declareBoardHistory(program, choose);
  const retry = program
    .command("retry <item>")
    .description("take a failed, quarantined or escalated issue back into the queue, its failures forgotten");
  declareRetry(retry, "ratchet retry shop-3", choose);
}

function declareRetry(retry: Command, example: string, choose: Choose): void {
  retry.option("--afresh", "put its work aside: a new worktree, a new session, none of its findings");
  item(retry, example).action((id: string, { afresh, ...options }: ItemOptions & { readonly afresh?: boolean }) =>
    choose(async (context) =>
      afresh
        ? (await import("../commands/work-afresh.js")).beginAfresh(context, id, options)
        : (await change()).retryItem(context, id, options),
    ),
  );
}

/** What every command on one item shares. */
function item(command: Command, example: string): Command {
  const shared = command.option("--project <id>", "another project than this folder's").option("--json", "print JSON");
  return withExample(shared, example);
}

function declareAdd(work: Command, choose: Choose): void {
  const add = work
    .command("add <title>")
    .description("add an issue; prints its id")
    .option("--id <id>", "its id (default: <project>-<number>)")
    .option("--body <text>", "what is to be done, and when it is done")
    .option("--body-file <file>", "the same from a file, - for standard input")
    .option("--type <type>", "task or epic; an epic is never run, it collects", "task")
    .option("--parent <epic>", "the epic it belongs to")
    .option(
      "--dep <id>",
      "issues that must be completed first, separated by blanks or commas (may be repeated)",
      collectIds,
    )
    .option("--priority <P0-P3>", "P0 is the most urgent", "P2")
    .option("--created-at <time>", "for imports: when it was written");
  item(add, 'ratchet work add "Round prices" --dep shop-1 --body "Cents, half up."').action(
    (title: string, options: AddOptions) =>
      choose(async (context) => (await import("../commands/work-add.js")).addWork(context, title, options)),
  );
}

function declareList(work: Command, choose: Choose): void {
  const look = () => import("../commands/work-list.js");
  const list = work
    .command("list")
    .description("the issues that are not completed")
    .option("--status <status>", "only these, separated by commas (may be repeated)", collect)
    .option("--all", "completed ones too")
    .option("--limit <n>", "at most this many", "1000");
  item(list, "ratchet work list --status failed,quarantined").action((options: ListOptions) =>
    choose(async (context) => (await look()).listWork(context, options)),
  );
  const show = work.command("show <id>").description("one issue with everything that happened to it");
  item(show, "ratchet work show shop-3").action((id: string, options: ItemOptions) =>
    choose(async (context) => (await look()).showWork(context, id, options)),
  );
  const agents = scoped(work.command("agents"))
    .description("who is at work: runs with their processes, and whoever has claimed an issue")
    .option("--json", "print JSON");
  withExample(agents, "ratchet work agents --all").action((options: ScopeOptions & { readonly json?: boolean }) =>
    choose(async (context) => (await import("../commands/work-agents.js")).listAgents(context, options)),
  );
}

function declareClaims(work: Command, choose: Choose): void {
  const claim = work
    .command("claim [id]")
    .description("take an issue for 15 minutes, the best one when none is named; exit 1 when it is not free")
    .option("--as <name>", "who takes it (default: a new name)");
  item(claim, "ratchet work claim shop-3 --json").action((id: string | undefined, options: ClaimOptions) =>
    choose(async (context) => (await change()).claimItem(context, id, options)),
  );
  const heartbeat = work
    .command("heartbeat <id>")
    .description("keep a claimed issue for another 15 minutes")
    .option("--as <name>", "who holds it (default: whoever does)");
  item(heartbeat, "ratchet work heartbeat shop-3").action((id: string, options: ClaimOptions) =>
    choose(async (context) => (await change()).renewClaim(context, id, options)),
  );
  const release = work
    .command("release <id>")
    .description("give a claimed issue back")
    .option("--as <name>", "only when this one holds it");
  item(release, "ratchet work release shop-3").action((id: string, options: ClaimOptions) =>
    choose(async (context) => (await change()).releaseItem(context, id, options)),
  );
}

function declareChanges(work: Command, choose: Choose): void {
  const complete = work
    .command("complete <id>")
    .description("call it done")
    .option("--note <text>", "how")
    .option("--force", "also one that waits in a pull request, which is followed no longer");
  item(complete, 'ratchet work complete shop-3 --note "done by hand"').action(
    (id: string, options: ItemOptions & { readonly force?: boolean }) =>
      choose(async (context) => (await change()).completeItem(context, id, options)),
  );
  const block = work.command("block <id>").description("keep it from being started").option("--reason <text>", "why");
  item(block, 'ratchet work block shop-3 --reason "waits for the bank"').action((id: string, options: ItemOptions) =>
    choose(async (context) => (await change()).blockItem(context, id, options)),
  );
  const unblock = work.command("unblock <id>").description("lift a block");
  item(unblock, "ratchet work unblock shop-3").action((id: string, options: ItemOptions) =>
    choose(async (context) => (await change()).unblockItem(context, id, options)),
  );
  const fail = work
    .command("fail <id>")
    .description("count a failure: back into the queue, quarantined at the third")
    .option("--reason <text>", "why");
  item(fail, 'ratchet work fail shop-3 --reason "needs a key"').action((id: string, options: ItemOptions) =>
    choose(async (context) => (await change()).failItem(context, id, options)),
  );
  const retry = work.command("retry <id>").description("back into the queue, its failures forgotten");
  declareRetry(retry, "ratchet work retry shop-3", choose);
  const dep = work
    .command("dep <id>")
    .description("what must be completed before it")
    .requiredOption("--on <id>", "the issues it waits for, separated by blanks or commas (may be repeated)", collectIds)
    .option("--remove", "no longer");
  item(dep, "ratchet work dep shop-3 --on shop-1 --on shop-2").action(
    (id: string, options: ItemOptions & { readonly on: readonly string[]; readonly remove?: boolean }) =>
      choose(async (context) => (await change()).changeDeps(context, id, options)),
  );
}
