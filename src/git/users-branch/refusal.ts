/** Why git refused to bring a checkout forward, in words that end no sentence. */
export function refusal(stderr: string): string {
  const changed = filesOf(stderr, /local changes to the following files would be overwritten/);
  if (changed !== null) return `uncommitted changes in ${changed} are in the way`;
  const untracked = filesOf(stderr, /untracked working tree files would be/);
  if (untracked !== null) return `untracked ${untracked} would be overwritten`;
  const inFolders = filesOf(stderr, /following directories would lose untracked files/);
  if (inFolders !== null) return `untracked files in ${inFolders} would be lost`;
  if (/not concluded your merge|MERGE_HEAD exists/.test(stderr)) return "a merge is in progress there";
  const line = stderr.split("\n").find((one) => /^(error|fatal):/.test(one)) ?? "git refused";
  return line.replace(/^(error|fatal): /, "").replace(/[.,]$/, "");
}

/** Whether git has looked and written nothing: where it is not known to be so, it may have begun. */
export function isRefused(stderr: string): boolean {
  const looked = /^Aborting$|Not possible to fast-forward|refusing to merge unrelated|not something we can merge/m;
  const busy = /_HEAD exists|unmerged files|unresolved conflict|Unable to create '[^\n]+\.lock'/;
  return looked.test(stderr) || busy.test(stderr);
}

/** git says no more at once than this, and leaves the rest of the names out without a word. */
const longestMessage = 4095;

/** The names that git lists below its message, in words; null: it does not say that. */
function filesOf(stderr: string, message: RegExp): string | null {
  const said = stderr.split(/^(?=error: )/m).find((one) => message.test(one));
  if (said === undefined) return null;
  const [, ...lines] = said.split("\n");
  const listed = lines.filter((line) => line.startsWith("\t")).map((line) => line.trim());
  const isCut = Buffer.byteLength(said) >= longestMessage && !lines.some((line) => line.startsWith("Please "));
  // The last one may be half a name.
  return isCut ? named(listed.slice(0, Math.max(listed.length - 1, shownAtMost)), true) : named(listed);
}

const shownAtMost = 3;

/** `isCut`: there are more. */
export function named(files: readonly string[], isCut = false): string {
  const shown = files.slice(0, shownAtMost).join(", ");
  const more = files.length - shownAtMost;
  if (more <= 0) return shown + (isCut ? " and more" : "");
  return `${shown} and ${isCut ? "at least " : ""}${more} more`;
}
