import { isSecretName } from "./environment.js";

const hidden = "[redacted]";

/** Shapes of well-known tokens. Each is anchored by a prefix and bounded in length, so that none can backtrack. */
const shapes = [
  /\bgh[pousr]_[A-Za-z0-9]{20,255}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,255}/g,
  /\bglpat-[A-Za-z0-9_-]{20,255}/g,
  /\bsk-[A-Za-z0-9_-]{20,255}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,255}/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\beyJ[A-Za-z0-9_-]{8,4096}\.[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{8,4096}/g,
];
const keyBegin = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/g;
const keyEnd = /-----END [A-Z ]{0,40}PRIVATE KEY-----/g;

/** Secrets that no variable holds, such as a login that another program gave. */
const told = new Set<string>();

/** From now on every redactor hides it, those made before too. */
export function hideSecret(value: string): void {
  if (value.length >= 8) told.add(value);
}

/** A function that takes secrets out of text: the values of variables whose names say so, and what looks like a token. */
export function redactor(env: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const values = Object.entries(env)
    .flatMap(([name, value]) => (value !== undefined && value.length >= 8 && isSecretName(name) ? [value] : []))
    // The longer first: one secret may begin another.
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let safe = text;
    for (const value of [...values, ...told]) if (safe.includes(value)) safe = safe.replaceAll(value, () => hidden);
    for (const shape of shapes) safe = safe.replace(shape, hidden);
    return hideKeys(safe);
  };
}

/** Settings as they are shown: what maps of variables (`env`) hold is hidden where the name says so, or the value looks like a token. */
export function withoutSecrets<T>(settings: T): T {
  const redact = redactor({});
  const shown = (name: string, value: unknown): unknown => {
    if (typeof value !== "string") return value;
    return isSecretName(name) ? hidden : redact(value);
  };
  return JSON.parse(JSON.stringify(settings), (key, value: unknown) => {
    if (key !== "env" || typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shown(name, one)]));
  }) as T;
}

/** From now on every redactor hides what these variables hold, as it does those of our own. */
export function hideVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) if (isSecretName(name)) hideSecret(value);
}

/** From BEGIN to the next END; a block without one is hidden to the end of the text. */
function hideKeys(text: string): string {
  let safe = "";
  let from = 0;
  for (const begin of text.matchAll(keyBegin)) {
    if (begin.index < from) continue;
    keyEnd.lastIndex = begin.index;
    const end = keyEnd.exec(text);
    safe += text.slice(from, begin.index) + hidden;
    from = end === null ? text.length : end.index + end[0].length;
  }
  return safe + text.slice(from);
}
