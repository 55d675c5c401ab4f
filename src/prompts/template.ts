/**
 * Templates know `{{name}}` and nothing else. Values are inserted once and never read again, so whatever an issue or a
 * finding contains reaches the agent byte for byte.
 */
const placeholder = /\{\{([^{}]*)\}\}/g;

/** An empty value that stands alone on its line takes the line, and the empty one after it, away. */
export function renderTemplate(template: string, values: Readonly<Record<string, string>>): string {
  const unknown = namesIn(template).filter((name) => !Object.hasOwn(values, name));
  if (unknown.length > 0) throw new Error(`no value for ${unknown.map((name) => `{{${name}}}`).join(", ")}`);
  const insert = (name: string): string => values[name] ?? "";
  const lines = template.replaceAll("\r\n", "\n").split("\n");
  const kept: string[] = [];
  let swallow = false;
  for (const line of lines) {
    const alone = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(line)?.[1];
    const isEmpty = alone !== undefined && insert(alone) === "";
    if (!isEmpty && !(swallow && line.trim() === "")) {
      kept.push(line.replace(placeholder, (_whole, name: string) => insert(name)));
    }
    swallow = isEmpty;
  }
  while (kept.at(-1) === "") kept.pop();
  return `${kept.join("\n")}\n`;
}

/** Every name used, once, in order. */
export function namesIn(template: string): string[] {
  return [...new Set([...template.matchAll(placeholder)].map((match) => match[1] ?? ""))];
}
