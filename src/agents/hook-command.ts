import { quoted } from "../lib/quoted.js";
import type { AgentPlace } from "./place.js";

/**
 * What claude and codex give to a shell before each tool. To both of them a hook that breaks is no refusal: only exit 2
 * is. So whatever keeps ours from answering, a node that is gone included, ends with 2.
 */
export function hookCommand({ programs }: AgentPlace): string {
  return `${quoted(programs.node)} ${quoted(programs.hook)} || exit 2`;
}

/** Long enough for a machine that swaps: to both programs a hook that is late is no refusal either. */
export const hookTimeoutSeconds = 600;
