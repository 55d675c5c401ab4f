import * as z from "zod";
import { allow, listOf, positiveNumber, seconds, showDefault, text, textLike, wholeNumber } from "./kinds.js";

const minutesInAWeek = 10_080;

const budget = (whose: string) =>
  z
    .strictObject({
      usd: positiveNumber().nullable().default(null).describe("US dollars; null: no limit."),
      tokens: wholeNumber(1).nullable().default(null).describe("Tokens; null: no limit."),
      minutes: positiveNumber().nullable().default(null).describe("Minutes; null: no limit."),
    })
    .prefault({})
    .describe(`The limits of ${whose}.`);

const defaultDocsPatterns = [
  ...["md", "mdx", "rst", "adoc", "txt", "png", "jpg", "jpeg", "gif", "svg", "webp", "ico"].map((end) => `**/*.${end}`),
  "docs/**",
  "**/LICENSE*",
];

export const limitKeys = {
  timeout_minutes: allow(z.number().gt(0).max(minutesInAWeek), `minutes, more than 0 and at most ${minutesInAWeek}`)
    .default(30)
    .describe("The longest one turn of an agent may take; may be a fraction."),
  idle_timeout_seconds: showDefault(seconds().optional(), "20 % of timeout_minutes, from 300 to 900").describe(
    "A turn without any output for this long is stopped and continued, twice, then failed. The default is never longer than the turn itself.",
  ),
  max_agents: allow(z.union([z.literal("auto"), wholeNumber(1)]), "auto, or a whole number of 1 or more")
    .default("auto")
    .describe(
      "How many agent processes run at once, reviewers included. `auto`: one for each core and each GB of free memory, at least 1, at most 8.",
    ),
  max_issues: wholeNumber(1).nullable().default(null).describe("How many issues one run takes; null: all."),
  max_gate_retries: wholeNumber(0)
    .default(3)
    .describe("How often the gate may fail in a row; 0 and 1 both mean one gate and no turn to fix."),
  budgets: z
    .strictObject({ issue: budget("one issue"), run: budget("a run") })
    .prefault({})
    .describe("Spending limits."),
  convergence: z
    .strictObject({
      same_failure: wholeNumber(1).default(3).describe("Stop after the same failure this often in a row."),
      rounds_without_fewer_findings: wholeNumber(1)
        .default(3)
        .describe("Stop after this many rounds without progress."),
    })
    .prefault({})
    .describe(
      "Ends what has no counter of its own: workflow loops, rework cycles, fixers of session_end that break the gate and the like.",
    ),
};

/** A checkout has a git folder of its own, which nothing is copied into. */
const inside = /^(?![/~])(?!(?:.*\/)?\.\.(?:\/|$))(?!(?:\.?\/+)*\.[gG][iI][tT](?:\/|$)).+$/;

export const storageKeys = {
  store: z
    .strictObject({
      url: textLike(/^postgres(ql)?:\/\/\S+$/, "a postgres:// address")
        .nullable()
        .default(null)
        .describe("null: a SQLite database in the state home."),
    })
    .prefault({})
    .describe("Where Ratchet keeps its state."),
  worktree: z
    .strictObject({
      copy: listOf(
        textLike(inside, "a path inside the repository, and not in .git"),
        "paths inside the repository, and not in .git",
      )
        .default([])
        .describe(
          "Untracked files and folders a checkout needs, such as `.env`; copied into each new worktree, of a folder what git does not have. Git does not see them there. A relative link in a folder stays a link, so that it leads to the same place of the worktree; one whose file would not be there comes as that file. What is not there, has more than 2000 files that git does not ignore, or is a link that leads out of the repository, is left out: the run's log and `ratchet doctor` say so.",
        ),
    })
    .prefault({})
    .describe("How an issue's worktree is made."),
  docs_patterns: listOf(text("a pattern such as docs/**"), "path patterns")
    .default(defaultDocsPatterns)
    .describe("The files that are documentation: an issue that changes no others may be DOCS_ONLY."),
  retention_days: wholeNumber(1).default(30).describe("How long `ratchet gc` keeps finished runs and their logs."),
};
