/** As a word of a shell's command line, whatever is in it but NUL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** The same, for people: as it is where nothing in it means anything to a shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : quoted(text);
}
