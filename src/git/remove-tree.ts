import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turnOfLoop } from "node:timers/promises";
import { codeOf, ExternalError } from "../lib/errors.js";
import { runTool, startsManyCommands } from "./git.js";
import type { Mirror } from "./mirror/mirror-refs.js";

/** Removes folders whatever is in it: names that are no text, folders without write permission. */
export async function removeTree(...paths: readonly string[]): Promise<void> {
  await removeTreeAs({}, ...paths);
}

/** With these variables in the environment of what removes. */
export async function removeTreeAs(env: Readonly<Record<string, string>>, ...paths: readonly string[]): Promise<void> {
  const options = { cwd: "/", env };
  const remove = () => runTool("rm", ["-rf", "--", ...paths], options);
  if ((await remove()).code === 0) return;
  await runTool("chmod", ["-R", "u+rwX", "--", ...paths], options);
  const second = await remove();
  if (second.code !== 0)
    throw new ExternalError("rm", `${paths[0]} could not be removed: ${second.stderr.trim().slice(0, 300)}`);
}

/**
 * A folder for what is to go: things are renamed into it, which takes no time however large they are, and nobody waits
 * for the rest. A removal that does not come to its end is taken up by the next `openMirror`.
 */
export interface Trash {
  /** False: it could not be moved; it is gone already, on another disk, or not ours to move. */
  take(path: string | Buffer): Promise<boolean>;
  empty(): Promise<void>;
}

export async function openTrash(mirror: Mirror): Promise<Trash> {
  const [folder, mark] = [join(mirror.path, "checkouts"), randomBytes(6).toString("hex")];
  // Not swept while we live.
  const filling = join(folder, `.new-${process.pid}-${mark}`);
  mkdirSync(filling, { recursive: true, mode: 0o700 });
  let count = 0;
  return {
    take: async (path) => await moved(path, join(filling, String(count++))),
    empty: async () => {
      const gone = join(folder, `.gone-${mark}`);
      renameSync(filling, gone);
      void removeUnseen(gone);
    },
  };
}

/** One folder, out of the way at once. False: it could not be moved, as above. */
export async function discard(mirror: Mirror, path: string): Promise<boolean> {
  const gone = join(mirror.path, "checkouts", `.gone-${randomBytes(6).toString("hex")}`);
  if (!(await moved(path, gone))) return false;
  void removeUnseen(gone);
  return true;
}

/** Whether the rename happened. */
export async function moved(from: string | Buffer, to: string | Buffer): Promise<boolean> {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EXDEV", "EACCES", "EPERM"].includes(codeOf(error) ?? "")) return false;
    throw error;
  }
}

/** What a run discards within this time goes together; at the end of our process it goes at once. */
const gatherMs = 250;

function gathered(): Promise<void> {
  if (!startsManyCommands()) return turnOfLoop();
  return new Promise((resolve) => {
    const goOn = () => {
      clearTimeout(timer);
      process.off("beforeExit", goOn);
      resolve();
    };
    const timer = setTimeout(goOn, gatherMs).unref();
    process.once("beforeExit", goOn);
  });
}

/** How many folders one program removes. */
const atOnce = 50;
const leaving: string[] = [];
let removing = false;

/**
 * Nobody waits for it but the end of our process, so that nothing runs on behind a user's back; killed, it goes on. One
 * program at a time: what comes meanwhile goes together. What it cannot remove, and what it is not even started for, is
 * left to the next sweep.
 */
async function removeUnseen(path: string): Promise<void> {
  leaving.push(path);
  if (removing) return;
  removing = true;
  await gathered();
  while (leaving.length > 0) {
    const paths = leaving.splice(0, atOnce);
    // That it cannot be started is no reason to fail: see above.
    await runTool("rm", ["-rf", "--", ...paths], { cwd: "/" }).catch(() => undefined);
  }
  removing = false;
}
