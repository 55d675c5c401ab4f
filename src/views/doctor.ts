import { plainLine } from "../core/plain-text.js";
import type { AgentStatus } from "../core/ports/agent.js";

/** One thing that is needed; `advice` where it is not there. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly advice: string | null;
}

/** One that does not answer as expected, is too old or not logged in cannot work; a version nobody has tried may. */
export function programCheck(
  { name, kind }: { readonly name: string; readonly kind: string },
  status: AgentStatus | undefined,
): Check {
  if (status === undefined) return { name, ok: true, detail: kind, advice: null };
  const { version, known, loggedIn, advice, works } = status;
  if (version === null) return { name, ok: advice === null, detail: `${kind} of unknown version`, advice };
  if (works === false) return { name, ok: false, detail: `${kind} ${version} (too old)`, advice };
  const login = loggedIn === null ? "" : loggedIn ? ", logged in" : ", not logged in";
  const tried = known ? "" : " (not a version that Ratchet was tried with)";
  return { name, ok: loggedIn !== false, detail: `${kind} ${version}${tried}${login}`, advice };
}

/** The first that merges without a checkout. */
export const leastGit = "2.38";

/** From what `git --version` prints; what cannot be read is not called old. */
export function isOldGit(text: string): boolean {
  const found = /(\d+)\.(\d+)/.exec(text);
  if (found === null) return false;
  const [major = 0, minor = 0] = found.slice(1).map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastGit.split(".").map(Number);
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}

/** What keeps several things from being looked at is told once, by the one that it is about. */
export function tellOnce(checks: readonly Check[], nearest: string): Check[] {
  const says = (check: Check) => (check.ok ? null : JSON.stringify([check.detail, check.advice]));
  return checks.filter((check) => {
    const same = checks.filter((other) => says(other) !== null && says(other) === says(check));
    const teller = same.find(({ name }) => name === nearest) ?? same[0];
    return teller === undefined || teller === check;
  });
}

/** A line each, and below it what to do. */
export function renderChecks(checks: readonly Check[]): string[] {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ name, ok, detail, advice }) => [
    `${ok ? "ok     " : "MISSING"}  ${name.padEnd(width)}  ${plainLine(detail)}`,
    ...(advice === null ? [] : [`         ${" ".repeat(width)}  → ${plainLine(advice)}`]),
  ]);
  const bad = checks.filter(({ ok }) => !ok).length;
  return [...lines, bad === 0 ? "everything that is needed is there" : `${bad} of ${checks.length} need attention`];
}
