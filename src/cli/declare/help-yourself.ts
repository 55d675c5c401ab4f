import type { Command } from "commander";
import type { Choose } from "../context.js";
import type { InitFlags } from "../init/read-flag.js";
import { collect, withExample } from "./example.js";

interface Json {
  readonly json?: boolean;
}

/** Getting started, and finding out why something does not. */
export function declareHelpYourself(program: Command, choose: Choose): void {
  declareInit(program, choose);
  const doctor = program
    .command("doctor")
    .description("whether everything that is needed is there, with a word of advice where not")
    .option("--call", "also make one small call to the model of each agent and reviewer, which costs a few tokens")
    .option("--json", "print JSON");
  withExample(doctor, "ratchet doctor --call").action((options: Json & { readonly call?: boolean }) =>
    choose(async (context) => (await import("../commands/doctor.js")).examine(context, options)),
  );
  const explain = program
    .command("explain <issue>")
    .description("why an issue is running, or is not, and what to do about it")
    .option("--json", "print JSON");
  withExample(explain, "ratchet explain shop-3").action((issue: string, options: Json) =>
    // A tracker that gave no answer is told apart from an issue that is not there.
    choose(
      async (context) => (await import("../commands/explain.js")).explainIssue(context, issue, options),
      "tracker",
    ),
  );
}

function declareInit(program: Command, choose: Choose): void {
  const init = program
    .command("init")
    .description("write a ratchet.yaml: asks in a terminal, takes flags anywhere")
    .option("--yes", "ask nothing and take what was found")
    .option("--preset <name>", "node-npm, python-uv, go, rust or none")
    .option("--agent <name>", "who implements the issues")
    .option("--agent-command <line>", "the program that implements the issues, with its arguments")
    .option("--command <name=line>", "a command of the project (may be repeated)", collect)
    .option("--required <names>", "the commands that must pass, separated by commas, or none")
    .option("--review <type>", "a review of each issue: command, agent_sdk, cerberus, panel or none")
    .option("--review-command <line>", "the program that reviews, with its arguments")
    .option("--review-agent <name>", "the agent that reviews (agent_sdk)")
    .option("--review-member <name=type:who>", "a member of the panel: its name, type and agent or program", collect)
    .option("--max-retries <n>", "rounds of review an issue gets")
    .option("--finding-threshold <P0-P3>", "what blocks: that priority and worse; none: P0 and P1")
    .option("--trigger <name=commands>", "checks at session_end, epic_completion, run_end or periodic", collect)
    .option("--trigger-option <name.key=value>", "a setting of a trigger: fire_on, epic_depth, interval, …", collect)
    .option("--json", "print JSON");
  withExample(init, "ratchet init", 'ratchet init --preset node-npm --agent-command "my-agent --quiet"').action(
    (flags: InitFlags) => choose(async (context) => (await import("../init/init.js")).initProject(context, flags)),
  );
}
