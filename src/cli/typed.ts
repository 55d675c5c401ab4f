/** What a person typed, in a message: what is empty, blank or unprintable is seen. */
export function typed(text: string): string {
  return /^[\p{L}\p{N}\p{P}\p{S}]+$/u.test(text) ? text : JSON.stringify(text);
}
