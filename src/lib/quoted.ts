/** As a word of a shell's command line, whatever is in it but NUL. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
