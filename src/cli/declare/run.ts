import type { Command } from "commander";
import type { Choose } from "../context.js";
import type { RunFlags } from "../run/request.js";
import { collect, withExample } from "./example.js";

/** A run that cannot go on because something outside failed has an exit code of its own. */
const external = 3;

export function declareRun(program: Command, choose: Choose): void {
  const demo = program
    .command("demo")
    .description("a sample repository, three issues, a scripted agent: the whole loop, no key, no network")
    .option("--dir <folder>", "where to put it (default: a new folder among the temporary ones)")
    .option("--keep", "do not let a later demo tidy it away");
  withExample(demo, "ratchet demo --dir /tmp/shop").action((options: { dir?: string; keep?: boolean }) =>
    choose(async (context) => (await import("../demo/demo.js")).runDemo(context, options), external),
  );
  const run = runOptions(
    program
      .command("run [ids...]")
      .description("take issues from the board and see them through; unfinished runs are brought to their end first"),
  )
    .option("--scope <scope>", "all, epic:X, ids:a,b or orphans")
    .option("--dry-run", "print the ids it would take and start nothing")
    .option("--explain", "with --dry-run: the order, what is not taken and why, and the budgets")
    .option("--watch", "when nothing is left, wait for new work; Ctrl-C lets what runs come to its end")
    .option("--resume", "failed, stopped and idle issues first, each from where it stopped")
    .option("--prioritize-wip", "the same as --resume")
    .option("--strict", "with --resume: an issue whose session cannot be restored fails")
    .option("--fresh", "with --resume: new sessions")
    .option("--check-only", "with --resume: gate and review what you repaired in the worktree; no agent starts");
  withExample(run, "ratchet run", "ratchet run shop-1 shop-2 --max-agents 2", "ratchet run --resume").action(
    (ids: readonly string[], options: RunFlags) =>
      choose(async (context) => (await import("../run/command.js")).runIssues(context, ids, options), external),
  );
  const once = runOptions(program.command("do <text>").description("add one issue and run exactly it")).option(
    "--priority <P0-P3>",
    "P0 is the most urgent",
    "P2",
  );
  withExample(once, 'ratchet do "Fix the typo in the README"').action(
    (text: string, options: RunFlags & { readonly priority: string }) =>
      choose(async (context) => (await import("../run/do.js")).doText(context, text, options), external),
  );
  const land = program
    .command("land <issue>")
    .description("land an issue's branch: the gate first, then the merge; no agent, no review")
    .option("--json", "print one event per line, nothing else");
  withExample(land, "ratchet land shop-3").action((issue: string, options: RunFlags) =>
    choose(async (context) => (await import("../run/land.js")).landIssue(context, issue, options), external),
  );
  declareSignals(program, choose);
}

/** What every command that starts a run understands. */
function runOptions(command: Command): Command {
  return command
    .option("--max-agents <n>", "agent processes at the same time, reviewers included")
    .option("--max-issues <n>", "start no more than this many issues")
    .option("--max-review-retries <n>", "review rounds per issue")
    .option("--disable-validations <names>", "leave out, separated by commas: review, session_end, …", collect)
    .option("--json", "print one event per line, nothing else");
}

function declareSignals(program: Command, choose: Choose): void {
  const texts = {
    drain: "let what runs come to its end and start nothing new",
    stop: "stop at the next safe point; everything can be resumed",
  } as const;
  for (const name of ["drain", "stop"] as const) {
    const command = program
      .command(`${name} [what]`)
      .description(`${texts[name]}: a run, an issue, or every run of this repository`)
      .option("--json", "print JSON");
    withExample(command, `ratchet ${name}`).action((what: string | undefined, options: { readonly json?: boolean }) =>
      choose(async (context) =>
        (await import("../commands/signal.js")).sendSignal(context, name, { what, ...options }),
      ),
    );
  }
}
