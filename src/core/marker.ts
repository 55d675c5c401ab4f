/**
 * The hidden end of every text that Ratchet posts: by it the text is found again, so that it is posted once. Whoever
 * looks for one must also look at who wrote the text: anybody can copy a marker.
 */
export function markerOf(key: string): string {
  const safe = key.replace(/[^\w.:/@+-]/gu, encodeURIComponent).replaceAll("--", "-%2D");
  return `<!-- ratchet:${safe} -->`;
}

export function withMarker(body: string, key: string): string {
  return `${body.trimEnd()}\n\n${markerOf(key)}`;
}

export function hasMarker(text: string, key: string): boolean {
  return text.includes(markerOf(key));
}

/** The marker is where Ratchet puts it, at the very end and unquoted; without a key: whatever it is about. */
export function endsWithMarker(text: string, key?: string): boolean {
  const last = text.trimEnd().split(/\r?\n/).at(-1) ?? "";
  return key === undefined ? /^<!-- ratchet:\S+ -->$/.test(last) : last === markerOf(key);
}

export function withoutMarker(text: string): string {
  return endsWithMarker(text) ? text.trimEnd().slice(0, text.trimEnd().lastIndexOf("<!--")).trimEnd() : text;
}

/** The keys of all markers in a text. */
export function markersIn(text: string): string[] {
  return [...text.matchAll(/<!-- ratchet:(\S+) -->/g)].flatMap(([, key = ""]) => {
    try {
      return [decodeURIComponent(key)];
    } catch (error) {
      if (error instanceof URIError) return [];
      throw error;
    }
  });
}
