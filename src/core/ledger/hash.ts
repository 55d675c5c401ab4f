const offset = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/**
 * FNV-1a, 64 bits, over the text's UTF-8 bytes, as 16 hex digits. It only names things: it must be the same on every
 * machine and in every version, and needs no resistance against someone who wants a collision.
 */
export function hashText(text: string): string {
  let hash = offset;
  for (const byte of new TextEncoder().encode(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime);
  }
  return hash.toString(16).padStart(16, "0");
}
