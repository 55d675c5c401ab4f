/** The last bytes of a stream. Only so much is ever held. */
export async function readTail(body: unknown, maxBytes: number): Promise<string> {
  if (!(body instanceof ReadableStream)) return "";
  const stream: ReadableStream<unknown> = body;
  let [kept, isCut] = [Buffer.alloc(0), false];
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) continue;
    const all = Buffer.concat([kept, chunk]);
    isCut ||= all.length > maxBytes;
    kept = all.subarray(Math.max(0, all.length - maxBytes));
  }
  return wholeLines(kept, isCut);
}

export function tailOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  const from = Math.max(0, bytes.length - maxBytes);
  return wholeLines(bytes.subarray(from), from > 0);
}

/** What is cut begins with a whole line, where there is one. */
function wholeLines(bytes: Uint8Array, isCut: boolean): string {
  const text = new TextDecoder().decode(bytes);
  const line = text.indexOf("\n") + 1;
  return isCut && line < text.length ? text.slice(line) : text;
}
