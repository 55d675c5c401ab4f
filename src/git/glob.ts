/** Does the path match one of the patterns? `*` and `?` stay within a name, `**` crosses folders; a pattern without a slash matches at any depth. */
export function matchesAny(path: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => expressionOf(pattern).test(path));
}

const known = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  const found = known.get(pattern);
  if (found) return found;
  const anchored = pattern.includes("/") ? pattern.replace(/^\//, "") : `**/${pattern}`;
  const source = anchored.replace(/\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g, (part) => {
    if (part === "**/") return "(?:.*/)?";
    if (part === "**") return ".*";
    if (part === "*") return "[^/]*";
    return part === "?" ? "[^/]" : `\\${part}`;
  });
  const made = new RegExp(`^${source}$`, "s");
  known.set(pattern, made);
  return made;
}
