/**
 * What `cerberus spawn-code-review` prints, as far as it matters. It is for people, and versions word it differently: the
 * key of the run as text, as JSON or as a line for a shell. Some call it the session's, as `cerberus wait` does.
 */
const keyPatterns = ["run", "session"].map(
  (name) => new RegExp(`(?:\\b|_)${name}[ _-]?key["']?\\s*[:=]\\s*["'\`]?(?!null\\b)([a-z0-9][\\w.:@#/+=-]*)`, "i"),
);

/** null: it names none, and the run goes by the key it was given. */
export function runKeyIn({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string | null {
  const keys = keyPatterns.flatMap((pattern) => [stdout, stderr].map((said) => pattern.exec(said)?.[1]));
  return keys.find((key) => key !== undefined)?.replace(/[.:]+$/, "") ?? null;
}

/** An earlier review was left open in the same place. */
export function saysLeftOpen(said: string): boolean {
  return /already (active|pending)|stale (\w+ )?gate/i.test(said);
}
