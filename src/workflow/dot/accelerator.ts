const forms = [/^\[([^\]\n]+)\]\s*(\S[\s\S]*)$/, /^(\w{1,20})\)\s*(\S[\s\S]*)$/, /^(\w)\s+-\s+(\S[\s\S]*)$/];

/** The key in a label such as `[Y] Yes`, `Y) Yes` or `Y - Yes`; null: it names none. */
export function splitLabel(label: string): { readonly key: string | null; readonly text: string } {
  const trimmed = label.trim();
  for (const form of forms) {
    const match = form.exec(trimmed);
    if (match?.[1] !== undefined && match[2] !== undefined) return { key: match[1].trim(), text: match[2].trim() };
  }
  return { key: null, text: trimmed };
}
