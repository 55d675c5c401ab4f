import { ExternalError } from "../../lib/errors.js";
import { showKnown } from "./issues.js";
import { type Beads, pauseAfter } from "./program.js";
import type { Bead } from "./read.js";

interface Change {
  readonly id: string;
  readonly args: readonly [command: "update" | "close", id: string, ...options: string[]];
  readonly actor?: string;
}

const tries = 3;

/**
 * Whoever goes by the exit code alone calls told what nobody has heard: so the issue is looked at afterwards. A success
 * that changed nothing is tried again, and then it is a failure like any other.
 */
export async function change(
  beads: Beads,
  { id, args, actor }: Change,
  isHeard: (now: Bead) => boolean,
): Promise<void> {
  const call = beads.nameOf(args);
  for (let failures = 1; ; failures++) {
    const { words } = await beads.call(args, actor === undefined ? {} : { actor });
    if (isHeard(await showKnown(beads, id, "changed"))) return;
    const said = words === "" ? "" : `: ${words}`;
    if (failures >= tries) {
      throw new ExternalError("tracker", `${call} succeeds and changes nothing${said}`, { retryable: true });
    }
    await beads.wait(call, (signal) => pauseAfter(failures, signal));
  }
}

export function hasChanged(before: Bead, now: Bead): boolean {
  return now.status !== before.status || now.assignee !== before.assignee;
}
