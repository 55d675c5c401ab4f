import * as z from "zod";
import { allow, aWeekInSeconds, listOf, oneOf, programAndArguments, showDefault, text, textLike } from "./kinds.js";

export const agentKinds = ["claude", "codex", "pi", "acp", "command", "scripted"] as const;

/** An agent in one line, wherever one is named besides `agent` itself. */
export const agentChoiceKeys = {
  type: oneOf(agentKinds).describe("The agent; `scripted` plays the script in `agent.script`."),
  model: text().nullable().default(null).describe("Its model; null: the agent's own default."),
  effort: text().nullable().default(null).describe("Its reasoning effort; null: the agent's own default."),
  command: programAndArguments()
    .default([])
    .describe(
      "For `type: command` and `type: acp`: the program and its arguments. A reviewer of `type: command` always names its own; else, where `agent` is of the same type, it is that one's.",
    ),
};

const price = () => allow(z.number().min(0).max(100_000), "USD per million tokens");

export const agentSection = z
  .strictObject({
    type: oneOf(agentKinds).default("claude").describe("Which program implements the issues."),
    model: text().nullable().default(null).describe("The model; null: the agent's own default."),
    effort: text().nullable().default(null).describe("The reasoning effort; null: the agent's own default."),
    command: programAndArguments()
      .default([])
      .describe(
        "The program that is the agent, for `type: command` and `type: acp`; for the others where it is, if not on PATH.",
      ),
    script: text("a path")
      .nullable()
      .default(null)
      .describe("For `type: scripted`: the script, relative to the configuration file."),
    workflow: text().nullable().default(null).describe("A workflow that implements an issue in place of one session."),
    sandbox: oneOf(["none", "bwrap"]).default("none").describe("What the agent is locked into."),
    fallback: allow(
      z.union([text(), z.strictObject(agentChoiceKeys)]),
      "an agent's type, a model of the same agent, or a mapping with type, model, effort and command",
    )
      .nullable()
      .default(null)
      .describe(
        "Who goes on with an issue when this agent is at its usage limit or stays unreachable: an agent's type, a model of the same agent, or a section as below. null: it is waited for.",
      ),
    prices: allow(
      z.record(
        text("a model's name"),
        z.strictObject({
          input: price().describe("For input."),
          output: price().describe("For output."),
          cached: price().optional().describe("For input read from a cache; as `input` where it is not given."),
        }),
      ),
      "a mapping of models to {input, output, cached}, in USD per million tokens",
    )
      .default({})
      .describe(
        "What tokens cost, by model, for agents that tell tokens and no price. Goes before the table that Ratchet has.",
      ),
    backoff_seconds: listOf(
      allow(z.number().min(0).max(aWeekInSeconds), `seconds, from 0 to ${aWeekInSeconds}`),
      "seconds",
    )
      .default([1, 2, 4, 8])
      .describe("The waits before a turn that failed for a passing reason (exit 75) is tried again."),
    env: showDefault(
      listOf(textLike(/^[A-Za-z_]\w*\*?$/, "the name of a variable, or PREFIX_*"), "names of variables").optional(),
      "PATH, HOME, USER, LANG, LC_*, TERM, TMPDIR, SHELL and the agent's own",
    ).describe("The environment variables the agent may see; a list replaces the default."),
  })
  .prefault({})
  .describe("Who implements the issues.");
