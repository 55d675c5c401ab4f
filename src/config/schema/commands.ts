import * as z from "zod";
import { presetNames } from "../presets.js";
import { allow, flag, listOf, oneOf, seconds, showDefault, text, textLike } from "./kinds.js";

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name may not have.
const commandName = textLike(/^[^\s\u0000-\u001f\u007f]{1,64}$/, "a name of 1 to 64 characters without spaces");
const commandLine = () => text("a command line that is not empty").regex(/\S/);

const commandMapping = z.strictObject({
  command: showDefault(commandLine().optional(), "the preset's").describe("The command line, run by `sh -c`."),
  timeout: showDefault(seconds().optional(), "120, for `setup` 900").describe(
    "Seconds until the command and all it started is stopped, which is a failure.",
  ),
  allow_fail: flag().default(false).describe("A failure of this command is noted and is no finding."),
  exclusive: flag()
    .default(false)
    .describe("Only one command of this name runs at a time, in all projects of one RATCHET_HOME."),
});

const oneCommand = allow(
  z.union([commandLine(), commandMapping]).nullable(),
  "a command line, a mapping of command, timeout, allow_fail and exclusive, or null to switch it off",
);

export const commandKeys = {
  preset: oneOf(presetNames)
    .nullable()
    .default(null)
    .describe("A set of commands to start from. A preset never sets evidence_check and never enables a review."),
  commands: allow(z.record(commandName, oneCommand), "a mapping of names to commands")
    .prefault({})
    .describe("The project's commands by name. `setup` is reserved: it runs once in each new worktree."),
  commands_env: allow(
    z.union([
      z.literal("inherit"),
      listOf(textLike(/^[A-Za-z_]\w*\*?$/, "the name of a variable, or PREFIX_*"), "names of variables"),
    ]),
    "inherit, or a list of names of variables",
  )
    .default([])
    .describe(
      "The environment of commands: all of it but names with TOKEN, SECRET, PASSWORD or an ending _KEY. A list lets the named ones through as well, `inherit` lets all of them through.",
    ),
  evidence_check: z
    .strictObject({
      required: listOf(text("the name of a command"), "names of commands")
        .default([])
        .describe("The commands that must pass on the exact commit. Without any, a commit is all the gate asks for."),
    })
    .prefault({})
    .describe("What the gate demands."),
};
