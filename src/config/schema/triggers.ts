import * as z from "zod";
import { allow, listOf, oneOf, seconds, showDefault, text, wholeNumber } from "./kinds.js";
import { reviewSection } from "./review.js";

const commandMapping = z.strictObject({
  ref: text("the name of a command").describe("The name of one of the commands, or of a new one with `command`."),
  command: showDefault(
    text("a command line that is not empty").regex(/\S/).optional(),
    "the command of that name",
  ).describe("Another command line under this name."),
  timeout: showDefault(seconds().optional(), "that command's").describe("Another timeout, in seconds."),
});

const triggerCommand = allow(
  z.union([text("the name of a command"), commandMapping]),
  "the name of a command, or a mapping of ref, command and timeout",
);

const triggerKeys = {
  failure_mode: oneOf(["abort", "continue", "remediate"])
    .default("continue")
    .describe("After a failure: the run aborts, it goes on, or a fixer is sent and all commands run again."),
  max_retries: showDefault(wholeNumber(0).optional(), "0; must be given with remediate").describe(
    "How many times a fixer is sent: the commands run at most 1 + max_retries times.",
  ),
  timeout: seconds()
    .default(1800)
    .describe(
      "Seconds for all commands and the review together; fixers and the wait for an exclusive command are not counted.",
    ),
  commands: listOf(triggerCommand, "commands").default([]).describe("Run in order, up to the first failure."),
  code_review: reviewSection
    .nullable()
    .default(null)
    .describe("A review after the commands, with every field of per_issue_review."),
};
const fireOn = oneOf(["success", "failure", "both"])
  .default("success")
  .describe("Whether it runs after an issue that succeeded, one that failed, or either.");

const trigger = <S extends z.ZodRawShape>(shape: S, meaning: string) =>
  z
    .strictObject({ ...triggerKeys, ...shape })
    .nullable()
    .default(null)
    .describe(meaning);

export const triggersSection = z
  .strictObject({
    session_end: trigger({}, "After the gate of each issue passed, before its review."),
    run_end: trigger({ fire_on: fireOn }, "Once, after every issue of the run is finished."),
    epic_completion: trigger(
      {
        fire_on: fireOn,
        epic_depth: oneOf(["top_level", "all"]).default("top_level").describe("Which epics count."),
      },
      "When all children of an epic are finished.",
    ),
    periodic: trigger(
      {
        interval: wholeNumber(1).describe("After how many finished issues, whatever their outcome, epics not counted."),
      },
      "After every so many finished issues.",
    ),
  })
  .prefault({})
  .describe("Commands and reviews at certain moments of a run.");
