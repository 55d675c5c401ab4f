/**
 * Foreign text goes into a prompt as data: between two lines of tildes longer than any run of them in the text, so that
 * nothing inside can end the block.
 */
export function fence(text: string, note: string): string {
  const marker = markerFor(text);
  return `${note} It is the text between the two lines that begin with ${marker}.\n\n${marker}\n${text}\n${marker}`;
}

/** The same without a note, for texts that follow one. */
export function block(text: string): string {
  const marker = markerFor(text);
  return `${marker}\n${text}\n${marker}`;
}

function markerFor(text: string): string {
  const longest = (text.match(/~+/g) ?? []).reduce((length, run) => Math.max(length, run.length), 7);
  return "~".repeat(longest + 1);
}
