/** More words than this say nothing more; a query of thousands would be refused. */
const mostWords = 24;
const mostCharacters = 500;

/**
 * What a person typed, as a query of the full-text index: every word must be there, as it is or as a beginning. Each is
 * quoted, so that nothing in it has a meaning of its own: `rework-p-pr-42` is four words in a row. null: it has no word.
 */
export function toSearchQuery(typed: string): string | null {
  const words = typed
    .slice(0, mostCharacters)
    .split(/[\s\p{Cc}\p{Cs}]+/u)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));
  const wanted = [...new Set(words)].slice(0, mostWords);
  return wanted.length === 0 ? null : wanted.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" ");
}
