/**
 * A command line as a person types it, cut into words as a shell would: quotes and backslashes count, nothing is expanded.
 * null: a quote is not closed.
 */
export function splitWords(line: string): string[] | null {
  const words: string[] = [];
  let rest = line.trim();
  while (rest !== "") {
    let word = "";
    for (let piece = pieceOf(rest); piece !== null; piece = pieceOf(rest)) {
      word += piece.text;
      rest = rest.slice(piece.length);
    }
    if (rest !== "" && !/^\s/.test(rest)) return null;
    words.push(word);
    rest = rest.trimStart();
  }
  return words;
}

/** The next part of a word: plain, quoted, or one escaped character. */
function pieceOf(rest: string): { readonly text: string; readonly length: number } | null {
  const found = /^(?:'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+))/.exec(rest);
  if (found === null) return null;
  const [all, single, double, escaped, plain] = found;
  const text = single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? escaped ?? plain ?? "";
  return { text, length: all.length };
}

/** Cut again, it gives the same words. */
export function joinWords(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
