import * as z from "zod";
import { allow, aWeekInSeconds, listOf, oneOf, programAndArguments, showDefault, text, textLike } from "./kinds.js";

export const agentKinds = ["claude", "codex", "pi", "acp", "command", "scripted"] as const;

export const agentSection = z
  .strictObject({
    type: oneOf(agentKinds).default("claude").describe("Which program implements the issues."),
    model: text().nullable().default(null).describe("The model; null: the agent's own default."),
    effort: text().nullable().default(null).describe("The reasoning effort; null: the agent's own default."),
    command: programAndArguments().default([]).describe("For `type: command`: the program that is the agent."),
    script: text("a path")
      .nullable()
      .default(null)
      .describe("For `type: scripted`: the script, relative to the configuration file."),
    workflow: text().nullable().default(null).describe("A workflow that implements an issue in place of one session."),
    sandbox: oneOf(["none", "bwrap"]).default("none").describe("What the agent is locked into."),
    fallback: text().nullable().default(null).describe("The agent that takes over when this one cannot go on."),
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
