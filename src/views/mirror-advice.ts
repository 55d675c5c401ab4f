/** For whoever is told that a mirror, or the git folder of a worktree, is gone or damaged. */
export const mirrorAdvice =
  "the next command that needs it puts it right, `ratchet run --resume` goes on with the files";
