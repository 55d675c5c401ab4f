import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { namesIn } from "../../lib/files.js";
import type { Mirror } from "../mirror/mirror-refs.js";
import { removeTree } from "../remove-tree.js";
import { alternatesOf } from "./checkout-files.js";
import type { KnownTemplate } from "./checkout-template.js";

/**
 * What the git folders of all checkouts begin with, as a folder to be copied. It is named after what is in it, made aside
 * and never changed, so a copy is never of two minds. Others than the newest go when it is made; whoever misses one makes it.
 */
export function skeletonOf(mirror: Mirror, { mark }: KnownTemplate): string {
  return join(skeletons(mirror), mark);
}

function skeletons(mirror: Mirror): string {
  return join(mirror.path, "ratchet", "skeletons");
}

export async function makeSkeleton(mirror: Mirror, template: KnownTemplate): Promise<void> {
  const [folder, skeleton] = [skeletons(mirror), skeletonOf(mirror, template)];
  if (existsSync(skeleton)) return;
  // Somebody may be making this very one.
  const older = namesIn(folder).filter((name) => !name.startsWith(".") && name !== template.mark);
  const aside = join(folder, `.new-${process.pid}-${randomBytes(6).toString("hex")}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // No more than git and those who use it ask for: it makes the other folders when it needs them.
  for (const name of ["", "ratchet", "objects", "objects/info", "refs", "info"]) {
    mkdirSync(join(aside, name), { mode: 0o700 });
  }
  const put = (name: string, text: string) => writeFileSync(join(aside, name), text, { mode: 0o600 });
  put("packed-refs", template.packedRefs);
  put("config", template.config);
  put("objects/info/alternates", alternatesOf(mirror));
  if (template.exclude !== "") put("info/exclude", template.exclude);
  if (template.attributes !== "") put("info/attributes", template.attributes);
  try {
    renameSync(aside, skeleton);
  } catch (error) {
    // Somebody else has made the same.
    if (codeOf(error) !== "ENOTEMPTY" && codeOf(error) !== "EEXIST") throw error;
    older.push(aside.slice(folder.length + 1));
  }
  if (older.length > 0) await removeTree(...older.map((name) => join(folder, name)));
}
