/**
 * Where a review may put its comments: only on lines that the diff shows. A comment elsewhere makes the forge refuse the
 * whole review, so what does not fit is told in the review's text instead.
 */
export interface Hunk {
  readonly first: number;
  readonly last: number;
}

/** The lines of the new file that a patch shows. */
export function hunksOf(patch: string): Hunk[] {
  const headers = patch.matchAll(/^@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@/gm);
  return [...headers].flatMap(([, start, count]) => {
    const [first, length] = [Number(start), count === undefined ? 1 : Number(count)];
    return length === 0 ? [] : [{ first, last: first + length - 1 }];
  });
}

interface Place {
  readonly path: string;
  readonly line: number;
  readonly startLine?: number;
}

/** In one hunk from its first line to its last. */
export function isInDiff(
  { path, line, startLine = line }: Place,
  hunks: ReadonlyMap<string, readonly Hunk[]>,
): boolean {
  return (hunks.get(path) ?? []).some(({ first, last }) => startLine >= first && startLine <= line && line <= last);
}

/** What is put into the text because it fits nowhere else. */
export function asText(comments: readonly (Place & { readonly body: string })[]): string {
  const places = comments.map(({ path, line, startLine, body }) => {
    const lines = startLine === undefined || startLine === line ? `${line}` : `${startLine}-${line}`;
    return `**${path}:${lines}**\n\n${body}`;
  });
  return places.join("\n\n");
}
