const encoder = new TextEncoder();

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** The longest head of whole characters within `maxBytes`, ended at a line break where one is not far back. */
export function headOf(text: string, maxBytes: number): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= maxBytes) return text;
  let end = Math.max(0, maxBytes);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  const head = new TextDecoder().decode(bytes.subarray(0, end));
  const lineBreak = head.lastIndexOf("\n");
  return lineBreak > head.length / 2 ? head.slice(0, lineBreak) : head;
}
