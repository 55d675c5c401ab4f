/**
 * What follow-up issues say: a paragraph per finding, with the finding's id hidden in it. A finding is told once, also
 * when a later report of it is worded otherwise.
 */
export function newParagraphs(old: string, body: string): string[] {
  const known = new Set(paragraphsOf(old));
  return paragraphsOf(body).filter((paragraph) => {
    // Its own is the last line; others may stand in text that a reviewer quoted.
    const mark = /<!-- ratchet:\S+ -->$/.exec(paragraph)?.[0];
    return !known.has(paragraph) && !(mark !== undefined && old.includes(mark));
  });
}

export function paragraphsOf(text: string): string[] {
  return text
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim())
    .filter((paragraph) => paragraph !== "");
}
