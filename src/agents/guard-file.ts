import { join } from "node:path";
import type { Turn } from "../core/ports/agent.js";
import { writeDurably } from "../lib/files.js";

/**
 * What the guard of a turn goes by, in the attempt's folder: the policy, where it notes what it refused, and the file
 * that shows that it was asked at all.
 */
export async function writeGuardFile({ guard, files }: Turn): Promise<void> {
  const notes = { denied: join(files.folder, "denied.jsonl"), asked: join(files.folder, "guard-asked") };
  await writeDurably(guardPath(files.folder), `${JSON.stringify({ ...guard, ...notes })}\n`);
}

export function guardEnvironment({ files }: Turn): { readonly RATCHET_GUARD: string } {
  return { RATCHET_GUARD: guardPath(files.folder) };
}

function guardPath(folder: string): string {
  return join(folder, "guard.json");
}
