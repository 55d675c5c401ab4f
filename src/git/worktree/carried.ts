import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { dirname } from "node:path/posix";
import { type Checkout, gitIn } from "../checkout/checkout-git.js";
import { bytesOf } from "../checkout/keep-tracked.js";
import { linkStatsOf } from "../small-files.js";

/**
 * What git ignores in a worktree that is made anew: nobody knows whose it is, and parking leaves it out. It is put aside,
 * beside the worktree, where whatever cannot come back stays and is listed.
 */
export async function setIgnoredAside(checkout: Checkout): Promise<string | null> {
  const { path } = checkout;
  const args = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const listed = (await gitIn(checkout, args, { own: true })).stdout.toString("latin1").split("\0");
  const names = listed.filter(Boolean).map((name) => name.replace(/\/$/, ""));
  if (names.length === 0) return null;
  const aside = `${path}.aside-${randomBytes(4).toString("hex")}`;
  mkdirSync(aside, { mode: 0o700 });
  for (const name of names) {
    mkdirSync(bytesOf(aside, dirname(name)), { recursive: true });
    renameSync(bytesOf(path, name), bytesOf(aside, name));
  }
  return aside;
}

/** Where something of it stays, because there is something else in its place by now; null: all of it is back. */
export function bringBack(aside: string | null, path: string): string | null {
  return aside === null || moveInto(Buffer.from(aside), Buffer.from(path)) ? null : aside;
}

function moveInto(from: Buffer, to: Buffer): boolean {
  const [moved, there] = [linkStatsOf(from), linkStatsOf(to)];
  if (there === undefined) renameSync(from, to);
  else if (moved?.isDirectory() && there.isDirectory()) {
    const names = readdirSync(from, "latin1");
    const left = names.filter((name) => !moveInto(below(from, name), below(to, name)));
    if (left.length > 0) return false;
    rmdirSync(from);
  } else if (moved?.isFile() && there.isFile() && readFileSync(from).equals(readFileSync(to))) rmSync(from);
  else return false;
  return true;
}

function below(folder: Buffer, name: string): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), Buffer.from(name, "latin1")]);
}
