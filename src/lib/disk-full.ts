import { codeOf, ExternalError } from "./errors.js";

/** A file of ours that could not be written for want of room, as one sentence; null: it was something else. */
export function asDiskFull(error: unknown): ExternalError | null {
  if (error instanceof ExternalError) return error.what === "disk" ? error : null;
  if (!["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "")) return null;
  const { path, syscall } = error as NodeJS.ErrnoException;
  // Said of watches too, of which there may be only so many.
  if (syscall === "watch") return null;
  return new ExternalError("disk", `the disk is full${path === undefined ? "" : `: ${path} could not be written`}`, {
    hint: "free some space and start again; nothing recorded is lost",
    cause: error,
  });
}
