import * as z from "zod";
import { flag, listOf, oneOf, seconds, text, textLike, wholeNumber } from "./kinds.js";

/** As `git check-ref-format --branch` has it. */
const branchName =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what a name may not have.
  /^(?![-/]|HEAD$)(?!.*(?:\.\.|@\{|\.$))(?:(?:^|\/)(?!\.)[^\u0000-\u0020\u007f~^:?*[\\/]+(?<!\.lock))+$/;

/** Where issues come from and where finished work goes. */
export const deliveryKeys = {
  tracker: z
    .strictObject({
      type: oneOf(["local", "beads", "github"]).default("local").describe("`local` is Ratchet's own board."),
    })
    .prefault({})
    .describe("Where the issues come from."),
  finalize: z
    .strictObject({
      mode: oneOf(["merge", "pr", "branch"])
        .default("merge")
        .describe("Land on the target branch, open a pull request, or leave the branch `ratchet/<issue>`."),
      into: textLike(branchName, "the name of a branch")
        .nullable()
        .default(null)
        .describe("The target branch; null: the branch the run started from."),
    })
    .prefault({})
    .describe("What happens with finished work."),
  pull_requests: z
    .strictObject({
      max_rework_cycles: wholeNumber(0).nullable().default(null).describe("Cycles of rework; null: 2."),
      comment_timeout_seconds: seconds().default(30).describe("Seconds for fetching the comments."),
      max_inline_comments: wholeNumber(1).default(50).describe("How many inline comments a prompt shows."),
      rework_on_comment: flag().default(true).describe("A trusted comment alone starts a cycle of rework."),
      trusted: listOf(text("an association or a login"), "associations or logins")
        .default(["OWNER", "MEMBER", "COLLABORATOR"])
        .describe('Whose text reaches an agent: associations, or logins such as "coderabbitai[bot]".'),
      review: z
        .strictObject({ enabled: flag().default(false).describe("Ratchet reviews its pull requests itself.") })
        .prefault({})
        .describe("Ratchet's own review of pull requests."),
      merge: oneOf(["squash", "merge", "rebase", "none"]).default("none").describe("How a finished one is merged."),
      poll_seconds: seconds().default(60).describe("Seconds between two looks at the forge."),
    })
    .prefault({})
    .describe("The pull-request loop of `finalize.mode: pr`."),
  forge: z
    .strictObject({
      type: oneOf(["github", "memory"])
        .default("github")
        .describe(
          "memory: pull requests in a file of the state home, for trying it out with an `origin` on this machine.",
        ),
      repo: textLike(/^[\w.-]+\/[\w.-]+$/, "owner/name")
        .nullable()
        .default(null)
        .describe("null: from `origin`."),
      api_url: textLike(/^https?:\/\/\S+$/, "an http(s) address")
        .nullable()
        .default(null)
        .describe("The address of its API; null: the public one."),
    })
    .prefault({})
    .describe("Where pull requests live. The token comes from GITHUB_TOKEN, GH_TOKEN or the login of gh."),
};
