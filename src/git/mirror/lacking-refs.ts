import { join } from "node:path";
import { namesIn, readJson } from "../../lib/files.js";
import { aboutFile } from "../checkout/checkout-files.js";
import { givenTargets, landedRef } from "../landing/tip.js";
import { hasMarkedParked, parkedRefs } from "../parking/parking.js";
import { type Mirror, readRefs } from "./mirror-refs.js";

type Place = Pick<Mirror, "path">;

/** Refs that are known to have been there, by a file elsewhere, and are no longer: the landed line, or all that is parked. */
export async function lacksRefs(mirror: Place): Promise<boolean> {
  const landed = givenTargets(mirror).map(landedRef);
  if (landed.length > 0 && (await readRefs(mirror.path, landed)).size < landed.length) return true;
  return hasMarkedParked(mirror) && (await readRefs(mirror.path, [parkedRefs])).size === 0;
}

/** A worktree is there, and not even where one began: all of Ratchet's own refs went. For somebody who asks. */
export async function lacksAllRefs({ path }: Place): Promise<boolean> {
  const folders = namesIn(join(path, "checkouts")).filter((name) => !name.startsWith("."));
  for (const name of folders) {
    const about = await readJson(join(path, "checkouts", name, aboutFile));
    const isOfIssue = typeof about === "object" && about !== null && "branch" in about && about.branch !== null;
    if (isOfIssue) return (await readRefs(path, ["refs/ratchet"])).size === 0;
  }
  return false;
}
