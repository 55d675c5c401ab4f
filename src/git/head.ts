import { join } from "node:path";
import { readOr } from "./checkout-template.js";

const commit = /^([0-9a-f]{40}|[0-9a-f]{64})$/;

/** The commit a ref of this git folder is at, read from its files; null when it names none. */
export async function resolveHead(gitDir: string, ref = "HEAD"): Promise<string | null> {
  let name = ref;
  for (let depth = 0; depth < 5; depth++) {
    const text = (await readOr(join(gitDir, name))).trim();
    if (commit.test(text)) return text;
    if (!text.startsWith("ref: ")) return text === "" ? await fromPackedRefs(gitDir, name) : null;
    name = text.slice("ref: ".length).trim();
  }
  return null;
}

async function fromPackedRefs(gitDir: string, ref: string): Promise<string | null> {
  const lines = (await readOr(join(gitDir, "packed-refs"))).split("\n");
  return lines.find((line) => line.endsWith(` ${ref}`))?.split(" ")[0] ?? null;
}
