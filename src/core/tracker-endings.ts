/** What a tracker is told of an issue, in words: `<issue> is done`. */
export const trackerEndings = {
  complete: "is done",
  fail: "has failed",
  escalate: "needs a person",
  release: "is free",
  "give-back": "is what it was",
  pass: "is in a pull request",
  "follow-up": "left something to do",
} as const;

/** Why an issue failed, or needs a person, as a tracker is told it. */
export function endingReason({ error, message }: { readonly error: string | null; readonly message: string }): string {
  return error === null ? message : `${error}: ${message}`;
}
