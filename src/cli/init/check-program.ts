import { splitWords } from "./split-words.js";

/** What is wrong with a program and its arguments as typed; null: nothing. */
export function checkProgramLine(line: string): string | null {
  const words = splitWords(line);
  if (words === null) return "a quote is not closed";
  return (words[0] ?? "") === "" ? "a program is needed" : null;
}
