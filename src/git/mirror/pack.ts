import { git } from "../git.js";

/**
 * Packs the mirror. What any ref reaches stays, ours below refs/ratchet included. `pruneBefore` (seconds since the epoch):
 * what nothing reaches and is older goes; null: nothing goes.
 */
export async function packMirror(path: string, pruneBefore: number | null): Promise<void> {
  if (pruneBefore === null) {
    await git(path, ["repack", "-a", "-d", "-l", "-q", "--keep-unreachable"]);
    return;
  }
  const when = `@${Math.floor(pruneBefore)}`;
  await git(path, ["repack", "-A", "-d", "-l", "-q", `--unpack-unreachable=${when}`]);
  await git(path, ["prune", `--expire=${when}`]);
}
