import type { Command } from "commander";
import type { WorkflowRunFlags } from "../commands/workflow-run.js";
import type { ShowFormat } from "../commands/workflow-show.js";
import { validateWorkflow } from "../commands/workflow-validate.js";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

interface Json {
  readonly json?: boolean;
}

export function declareWorkflow(program: Command, choose: Choose): void {
  const workflow = program.command("workflow").description("graphs of agents, tools and people, as KDL or DOT files");
  withExample(workflow, "ratchet workflow run quick-dev --goal 'A search box on every page'");
  const run = workflow
    .command("run <workflow>")
    .description("run a workflow, by its file or name, in the current checkout")
    .option("--goal <text>", "what it is about; stages read it as $goal")
    .option("--resume [run]", "go on with a run of it, from the stage where it stopped (default: the last)")
    .option("--approve-all", "answer every human gate with the first of its options that needs no feedback")
    .option("--dry-run", "check it and print every stage it can come to; start nothing")
    .option("--json", "print one event per line, nothing else");
  withExample(
    run,
    "ratchet workflow run planning --goal 'Faster start'",
    "ratchet workflow run planning --resume",
  ).action((what: string, flags: WorkflowRunFlags) =>
    choose(async (context) => (await import("../commands/workflow-run.js")).runWorkflow(context, what, flags)),
  );
  const validate = workflow
    .command("validate <workflow>")
    .description("check a workflow; every problem with line and column")
    .option("--json", "print JSON");
  withExample(validate, "ratchet workflow validate .ratchet/workflows/dev.awf.kdl").action(
    (what: string, flags: Json) => choose((context) => validateWorkflow(context, what, flags)),
  );
  const show = workflow
    .command("show <workflow>")
    .description("draw a workflow")
    .option("--format <format>", "text, dot, svg or mermaid", "text")
    .option("--json", "print JSON");
  withExample(show, "ratchet workflow show quick-dev", "ratchet workflow show quick-dev --format svg > dev.svg").action(
    (what: string, flags: Json & { readonly format: ShowFormat }) =>
      choose(async (context) => (await import("../commands/workflow-show.js")).showWorkflow(context, what, flags)),
  );
  const list = workflow
    .command("list")
    .description("the workflows that have a name here")
    .option("--json", "print JSON");
  withExample(list, "ratchet workflow list").action((flags: Json) =>
    choose(async (context) => (await import("../commands/workflow-list.js")).listWorkflows(context, flags)),
  );
  declareAnswer(program, choose);
}

function declareAnswer(program: Command, choose: Choose): void {
  const answer = program
    .command("answer [gate] [option]")
    .description(
      "answer a human gate: its stage, or issue/stage or run/stage where several ask; show it without an option, list what is open without a gate",
    )
    .option("--feedback <text>", "what should be different")
    .option("--json", "print JSON");
  withExample(answer, "ratchet answer approve_plan revise --feedback 'Keep the old API'").action(
    (gate: string | undefined, option: string | undefined, flags: Json & { readonly feedback?: string }) =>
      choose(async (context) => {
        const { answerGate, listGates, showGate } = await import("../commands/answer.js");
        if (gate === undefined) return await listGates(context, flags);
        if (option === undefined) return await showGate(context, { gate, ...flags });
        return await answerGate(context, { gate, option, ...flags });
      }),
  );
}
