import { plainLine } from "../core/plain-text.js";

/** As it is typed in a shell, on one line and without control characters. */
export function shellWord(text: string): string {
  const plain = plainLine(text);
  return /^[\w./:@%+,=-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}
