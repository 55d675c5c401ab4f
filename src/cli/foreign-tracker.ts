import { findBeads } from "../lib/beads-program.js";
import { UserError } from "../lib/errors.js";
import { type ForeignTracker, foreignHint, foreignName, foreignOf } from "../views/foreign-tracker.js";
import type { Context } from "./context.js";

/** Where the issues of a project are, when not on our own board. A configuration that does not hold names no other place. */
export async function foreignTracker(
  { app }: Context,
  project: string | undefined = undefined,
): Promise<ForeignTracker | null> {
  try {
    // Of another project only the board is known.
    if (project !== undefined && (await app.project()).id !== project) return null;
    const { type: kind } = (await app.settings({})).settings.tracker;
    const program =
      kind === "beads" ? findBeads({ cwd: (await app.project()).repoPath, env: app.env })?.name : undefined;
    return foreignOf({ kind, ...(program ? { program } : {}) });
  } catch (error) {
    if (error instanceof UserError) return null;
    throw error;
  }
}

type Change = Parameters<typeof foreignHint>[1];

/** What would only change our own board, where no run looks for issues, is refused with the place where it counts. */
export async function refuseForeign(
  context: Context,
  change: Change,
  { id = "", project }: { readonly id?: string; readonly project?: string | undefined } = {},
): Promise<void> {
  const tracker = await foreignTracker(context, project);
  if (tracker === null) return;
  const what =
    id === "" ? "the issues of this project are" : `${id} is not on the board: the issues of this project are`;
  throw new UserError(`${what} in ${foreignName(tracker)}`, {
    code: "tracker",
    hint: foreignHint(tracker, change, id),
  });
}
