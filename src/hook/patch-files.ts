const header = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/su;
const margins = /^[\s\u0085]+|[\s\u0085]+$/g;

/**
 * The files that a patch in codex's own form touches; none when it has no such header. Codex takes headers with spaces
 * around them, and ends a line at a newline only: what could be a header counts as one.
 */
export function patchedFiles(patch: string): string[] {
  return patch.split("\n").flatMap((line) => {
    const path = header.exec(line.replace(margins, ""))?.[1]?.trim() ?? "";
    return path === "" ? [] : [path];
  });
}
