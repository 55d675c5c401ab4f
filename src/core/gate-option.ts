interface Option {
  readonly key: string;
  readonly label: string;
}

/**
 * The option that a word means: its key, else its label, as both are shown to whoever answers. The case of letters counts
 * only between options that differ in nothing else. null: none, or more than one.
 */
export function optionMeant<T extends Option>(options: readonly T[], typed: string): T | null {
  const word = typed.trim();
  const exact = options.find(({ key }) => key === word);
  if (exact !== undefined) return exact;
  return (
    only(options, ({ key }) => isAlike(key, word)) ??
    only(options, ({ label }) => label.trim() === word) ??
    only(options, ({ label }) => isAlike(label, word))
  );
}

function only<T>(options: readonly T[], fits: (option: T) => boolean): T | null {
  const found = options.filter(fits);
  return found.length === 1 ? (found[0] ?? null) : null;
}

function isAlike(one: string, word: string): boolean {
  return word !== "" && one.trim().toLowerCase() === word.toLowerCase();
}
