/**
 * What `cerberus spawn-code-review` prints, as far as it matters. It is for people, and versions word it differently: the
 * key of the run as text, as JSON or as a line for a shell.
 */
const keyPattern = /(?:\b|_)run[ _-]?key["']?\s*[:=]\s*["'`]?(?!null\b)([a-z0-9][\w.:@#/+=-]*)/i;

/** null: it names none, and the run goes by the key it was given. */
export function runKeyIn({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string | null {
  for (const said of [stdout, stderr]) {
    const key = keyPattern.exec(said)?.[1];
    if (key !== undefined) return key.replace(/[.:]+$/, "");
  }
  return null;
}

/** An earlier review was left open in the same place. */
export function saysLeftOpen(said: string): boolean {
  return /already (active|pending)|stale (\w+ )?gate/i.test(said);
}
