import { UserError } from "./errors.js";

/** Nothing is worked on, and no settings are looked for, from in there. */
export function insideGit(cwd: string, cause?: unknown): UserError {
  return new UserError(`${cwd} is inside a .git folder`, { hint: "Change to the checkout itself.", cause });
}
