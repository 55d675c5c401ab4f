import type { Command } from "commander";
import type { FindingsOptions } from "../commands/findings.js";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

interface Json {
  readonly json?: boolean;
}
interface List {
  readonly list?: boolean;
}

export function declareLook(program: Command, choose: Choose): void {
  const status = program
    .command("status")
    .description("what is running, and how far it is")
    .option("--watch", "go on showing it")
    .option("--all", "of every project")
    .option("--json", "print JSON");
  withExample(status, "ratchet status --watch").action(
    (options: Json & { readonly watch?: boolean; readonly all?: boolean }) =>
      choose(async (context) => (await import("../commands/status.js")).showStatus(context, options)),
  );
  declareLogs(program, choose);
  declareFindings(program, choose);
  const diff = program
    .command("diff <issue>")
    .description("what an issue has changed so far, against the commit it started from")
    .option("--stat", "only which files");
  withExample(diff, "ratchet diff shop-3").action((issue: string, options: { readonly stat?: boolean }) =>
    choose(async (context) => (await import("../commands/diff.js")).showDiff(context, issue, options)),
  );
}

function declareLogs(program: Command, choose: Choose): void {
  const logs = program.command("logs").description("earlier runs: what was asked, answered and decided");
  withExample(logs, "ratchet logs show last");
  const files = () => import("../commands/attempt-files.js");
  const list = logs.command("list").description("the runs, newest first").option("--all", "of every project");
  list.option("--limit <n>", "at most this many", "20").option("--json", "print JSON");
  withExample(list, "ratchet logs list").action((options: Json & { readonly all?: boolean; readonly limit: string }) =>
    choose(async (context) => (await import("../commands/logs.js")).listRuns(context, options)),
  );
  const show = logs.command("show <run>").description("one run (a unique beginning of its id, or last)");
  withExample(show.option("--json", "print its record"), "ratchet logs show last").action(
    (run: string, options: Json) =>
      choose(async (context) => (await import("../commands/logs.js")).showRun(context, run, options)),
  );
  const prompt = logs
    .command("prompt <run> <issue> [nn]")
    .description("a prompt as it was sent (default: the last); in a run of a workflow a stage stands for the issue")
    .option("--list", "only which there are")
    .option("--json", "print JSON");
  withExample(prompt, "ratchet logs prompt last shop-3").action(
    (run: string, issue: string, nn: string | undefined, { list, ...options }: Json & List) =>
      choose(async (context) => {
        const { listAttempts, showPrompt } = await files();
        if (list) return await listAttempts(context, { run, issue, nn }, { ...options, file: "prompt.md" });
        return await showPrompt(context, { run, issue, nn }, options);
      }),
  );
  const transcript = logs
    .command("transcript <run> <issue> [nn]")
    .description("what the agent or reviewer said and did (default: the last)")
    .option("--list", "only which there are")
    .option("--raw", "as the program printed it")
    .option("--json", "print JSON");
  withExample(transcript, "ratchet logs transcript last shop-3 02").action(
    (
      run: string,
      issue: string,
      nn: string | undefined,
      { list, ...options }: Json & List & { readonly raw?: boolean },
    ) =>
      choose(async (context) => {
        const { listAttempts, showTranscript } = await files();
        if (list) return await listAttempts(context, { run, issue, nn }, { ...options, file: "transcript.jsonl" });
        return await showTranscript(context, { run, issue, nn }, options);
      }),
  );
  const follow = logs.command("follow [run]").description("a run's events as they come, until it ends");
  withExample(follow.option("--json", "print one event per line"), "ratchet logs follow").action(
    (run: string | undefined, options: Json) =>
      choose(async (context) => (await import("../commands/logs.js")).followRun(context, run ?? "last", options)),
  );
  const runs = program.command("runs").description("runs as files");
  withExample(runs, "ratchet runs export last > run.json");
  const exported = runs
    .command("export <run>")
    .description("a run's whole record as JSON")
    .option("--json", "the same");
  withExample(exported, "ratchet runs export last > run.json").action((run: string) =>
    choose(async (context) => (await import("../commands/logs.js")).showRun(context, run, { json: true })),
  );
  const imported = runs
    .command("import <path>")
    .description("takes over a run's record, or a folder of them: Ratchet's own or mala's")
    .option("--json", "print JSON");
  withExample(imported, "ratchet runs import run.json", "ratchet run --resume").action((path: string, options: Json) =>
    choose(async (context) => (await import("../commands/import.js")).importRuns(context, path, options)),
  );
}

function declareFindings(program: Command, choose: Choose): void {
  const commands = () => import("../commands/findings.js");
  const findings = program
    .command("findings [issue]")
    .description("what checks and reviewers found and nobody has settled yet")
    .option("--all", "settled ones too")
    .option("--json", "print JSON");
  withExample(findings, "ratchet findings shop-3 --all").action((issue: string | undefined, options: FindingsOptions) =>
    choose(async (context) => (await commands()).listFindings(context, issue, options), "tracker"),
  );
  const waive = findings
    .command("waive <id>")
    .description("settle a finding by decision, with a reason that is kept")
    .requiredOption("--reason <text>", "why it may stay")
    .option("--issue <id>", "of which issue, where several have it")
    .option("--json", "print JSON");
  withExample(waive, 'ratchet findings waive 3f2a --reason "generated code"').action(
    (id: string, options: Json & { readonly reason: string; readonly issue?: string }) =>
      choose(async (context) => (await commands()).waiveFinding(context, id, options)),
  );
}
