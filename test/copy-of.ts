import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

/** Makes a folder like the one that `make` fills; it is asked once in a test file, the rest are copies. */
export function copyOf(make: (folder: string) => void): (folder: string) => void {
  let original: string | null = null;
  afterAll(() => {
    if (original !== null) rmSync(original, { recursive: true, force: true });
  });
  return (folder) => {
    if (original === null) {
      original = mkdtempSync(join(tmpdir(), "ratchet-original-"));
      make(original);
    }
    cpSync(original, folder, { recursive: true });
  };
}
