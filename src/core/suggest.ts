/** The candidate a writer most likely meant, or null when none is near. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  if (word.length > 64) return null;
  const wanted = plain(word);
  let best: { candidate: string; distance: number } | null = null;
  for (const candidate of candidates) {
    const other = plain(candidate);
    const limit = Math.max(1, Math.floor(Math.max(wanted.length, other.length) / 3));
    if (Math.abs(wanted.length - other.length) > limit) continue;
    const distance = editDistance(wanted, other);
    if (distance <= limit && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** Case and word separators are what people get wrong first: they cost nothing. */
function plain(word: string): string {
  return word.toLowerCase().replace(/[-_ ]/g, "");
}

/** Insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      const costs = [cell(last, column) + 1, cell(current, column - 1) + 1, cell(last, column - 1) + same];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) costs.push(cell(before, column - 2) + 1);
      current.push(Math.min(...costs));
    }
    before = last;
    last = current;
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
