/**
 * `$goal` and `$a.b` in prompts, questions, inputs and commands. A value is inserted once and never read again, so what an
 * agent has written cannot name further values. Unknown names stay as they are: they may be the shell's.
 */
export type Lookup = (name: string) => string | undefined;

const reference = /\$([A-Za-z_][\w-]*(?:\.[\w-]+)*)/g;

export function expand(text: string, lookup: Lookup): string {
  return text.replace(reference, (whole, name: string) => {
    const found = longestKnown(name, lookup);
    return found === null ? whole : found.value + name.slice(found.name.length);
  });
}

/** The values that a text asks for, for whoever must read them from files first. */
export function referencesIn(text: string): string[] {
  const names = [...text.matchAll(reference)].flatMap((match) => beginnings(match[1] ?? ""));
  return [...new Set(names)];
}

export interface ShellText {
  readonly command: string;
  /** What the command's references stand for now. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The same for a shell command. A value becomes a variable of the command's environment: whatever is in it, the shell
 * never reads it as code. Within single quotes, where the shell expands nothing, the quotes are interrupted. `isOurs`: a
 * name that only a workflow can mean. The shell would read its beginning as a variable of its own, so without a value
 * the program gets it as it is written; every other unknown name is the shell's.
 */
export function expandForShell(command: string, lookup: Lookup, isOurs: (name: string) => boolean): ShellText {
  const asWritten: Lookup = (name) => (isOurs(name) ? `$${name}` : undefined);
  const env: Record<string, string> = {};
  const names = new Map<string, string>();
  let quoted: "single" | "double" | null = null;
  let out = "";
  for (let at = 0; at < command.length; ) {
    const found = command[at] === "$" ? referenceAt(command, at, [lookup, asWritten]) : null;
    if (found !== null) {
      const variable = names.get(found.name) ?? `RATCHET_VALUE_${names.size + 1}`;
      names.set(found.name, variable);
      env[variable] = found.value;
      out += quoted === "single" ? `'"\${${variable}}"'` : `\${${variable}}`;
      at += 1 + found.name.length;
      continue;
    }
    const char = command.charAt(at);
    const length = char === "\\" && quoted !== "single" ? 2 : 1;
    if (char === "'" && quoted !== "double") quoted = quoted === "single" ? null : "single";
    else if (char === '"' && quoted !== "single") quoted = quoted === "double" ? null : "double";
    out += command.slice(at, at + length);
    at += length;
  }
  return { command: out, env };
}

/** By the first that knows a beginning of the name. */
function referenceAt(text: string, at: number, lookups: readonly Lookup[]) {
  const name = /^\$([A-Za-z_][\w-]*(?:\.[\w-]+)*)/.exec(text.slice(at, at + 300))?.[1];
  if (name === undefined) return null;
  for (const lookup of lookups) {
    const found = longestKnown(name, lookup);
    if (found !== null) return found;
  }
  return null;
}

/** `$plan.response.` and `$plan.response-2` are about plan.response when nothing longer is known. */
function longestKnown(name: string, lookup: Lookup): { readonly name: string; readonly value: string } | null {
  for (const beginning of beginnings(name)) {
    const value = lookup(beginning);
    if (value !== undefined) return { name: beginning, value };
  }
  return null;
}

/** The name itself, then shorter and shorter ones, cut at dots and hyphens. */
function beginnings(name: string): string[] {
  const found = [name];
  for (let at = name.length - 1; at > 0; at -= 1) {
    if (name[at] === "." || name[at] === "-") found.push(name.slice(0, at));
  }
  return found;
}
