import { shownName } from "./plain-text.js";

interface NotCopied {
  readonly name: Uint8Array;
  readonly why: string;
}

const namesMax = 3;

/** What of `worktree.copy` no worktree will have, for people; null: nothing. */
export function notCopiedText(left: readonly NotCopied[]): string | null {
  const reasons = [...new Set(left.map(({ why }) => why))];
  const told = reasons.map((reason) => {
    const names = left.filter(({ why }) => why === reason).map(({ name }) => shownName(name));
    const more = names.length > namesMax ? ` and ${names.length - namesMax} more` : "";
    return `${names.slice(0, namesMax).join(", ")}${more} (${reason})`;
  });
  return told.length === 0 ? null : `worktree.copy: not copied into worktrees: ${told.join("; ")}`;
}
