/**
 * JSON that every reader takes. Half of a surrogate pair, as where somebody has cut an emoji in two, is no character: it is
 * written as the replacement character, as where it becomes bytes. Many readers (jq) refuse the whole document otherwise.
 */
export function jsonText(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent);
  // Only halves are written as an escape; the first alternative steps over a backslash that is a character of its own.
  if (text === undefined || !text.includes("\\ud")) return text;
  return text.replace(/(\\\\)|\\ud[89a-f][\da-f]{2}/g, (_half, backslash?: string) => backslash ?? "\ufffd");
}
