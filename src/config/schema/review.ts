import * as z from "zod";
import { agentChoiceKeys } from "./agent.js";
import {
  allow,
  flag,
  listOf,
  oneOf,
  programAndArguments,
  seconds,
  showDefault,
  textLike,
  wholeNumber,
} from "./kinds.js";

const memberKinds = ["cerberus", "agent_sdk", "command"] as const;

const cerberusEnv = allow(
  z.union([
    listOf(textLike(/^[A-Za-z_]\w*=/, "KEY=VALUE"), "KEY=VALUE"),
    allow(
      z.record(textLike(/^[A-Za-z_]\w*$/, "the name of a variable"), allow(z.string(), "a text")),
      "a mapping of names to texts",
    ),
  ]),
  "a list of KEY=VALUE, or a mapping of names to texts",
);

const anyText = () => allow(z.string(), "a text");

const reviewerKeys = {
  command: programAndArguments().default([]).describe("For `reviewer_type: command`: the program that reviews."),
  cerberus: z
    .strictObject({
      timeout: seconds().default(300).describe("Seconds one review may take, or a longer `--timeout` in `wait_args`."),
      spawn_args: listOf(anyText(), "texts").default([]).describe("More arguments of `cerberus spawn-code-review`."),
      wait_args: listOf(anyText(), "texts").default([]).describe("More arguments of `cerberus wait`."),
      env: cerberusEnv.default([]).describe("More environment variables."),
    })
    .prefault({})
    .describe("For `reviewer_type: cerberus`."),
  agent_sdk_timeout: seconds()
    .default(600)
    .describe("For `reviewer_type: agent_sdk` and `command`: seconds one review may take; then it gave no verdict."),
  agent_sdk_model: oneOf(["sonnet", "opus", "haiku"])
    .default("sonnet")
    .describe("For `reviewer_type: agent_sdk`: the model, when agent_sdk_agent is null."),
  agent_sdk_agent: z
    .strictObject(agentChoiceKeys)
    .nullable()
    .default(null)
    .describe("For `reviewer_type: agent_sdk`: any agent as the reviewer, another vendor's too."),
};

const panelMember = allow(
  z.strictObject({
    name: showDefault(
      textLike(/^[a-z0-9_-]{1,64}$/, "a name of lower-case letters, digits, _ and -").optional(),
      "`<reviewer_type>-<position>`",
    ).describe("The member's name, unique in the panel."),
    reviewer_type: oneOf(memberKinds).describe("What kind of reviewer it is. A panel has no panel in it."),
    ...reviewerKeys,
  }),
  "a mapping with name, reviewer_type and the settings of that reviewer",
);

/** The keys that choose the reviewer; they act only where their section is the source of the reviewer. */
export const reviewerKeyNames = ["reviewer_type", "panel", ...Object.keys(reviewerKeys)] as const;

const reviewKeys = {
  enabled: flag().default(false).describe("When false the section is checked and otherwise ignored."),
  reviewer_type: oneOf([...memberKinds, "panel"])
    .default("cerberus")
    .describe("Who reviews. `panel`: several reviewers side by side, on the same commit."),
  ...reviewerKeys,
  panel: listOf(panelMember, "reviewers").default([]).describe("For `reviewer_type: panel`: its members."),
  max_retries: wholeNumber(0)
    .default(3)
    .describe("How many rounds of review an issue gets; 0 and 1 both mean one review and no turn to fix."),
  finding_threshold: oneOf(["P0", "P1", "P2", "P3", "none"])
    .default("none")
    .describe("A finding of that priority or worse blocks; `none`: P0 and P1 block."),
  track_review_issues: flag()
    .default(true)
    .describe("Findings that do not block become one follow-up issue when the issue succeeds."),
  failure_mode: oneOf(["abort", "continue", "remediate"])
    .default("continue")
    .describe(
      "What happens when the rounds are used up: the run aborts, the issue fails, or a fixer gets the findings.",
    ),
};

export const reviewSection = z.strictObject({
  ...reviewKeys,
  baseline: oneOf(["since_run_start", "since_last_review"])
    .nullable()
    .default(null)
    .describe("Where the review of a run-level trigger starts. Ignored in per_issue_review and session_end."),
});
