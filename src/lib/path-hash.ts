import { createHash } from "node:crypto";

const known = new Map<string, string>();
const kept = 1000;

/** The SHA-256 of a path, in hex. The same few are asked for all the time. */
export function pathHash(path: string): string {
  const before = known.get(path);
  if (before !== undefined) return before;
  const hash = createHash("sha256").update(path).digest("hex");
  if (known.size >= kept) known.clear();
  known.set(path, hash);
  return hash;
}
