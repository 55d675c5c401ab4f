const headers = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$/gm;

/** The files that a patch in codex's own form touches; none when it has no such header. */
export function patchedFiles(patch: string): string[] {
  return [...patch.matchAll(headers)].map(([, path = ""]) => path.trim()).filter((path) => path !== "");
}
