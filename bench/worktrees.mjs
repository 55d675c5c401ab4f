import { countFailedWorktrees } from "../dist-test/bench-git.mjs";

/** Plain `git worktree add` fails now and then when several run at once; ours must not. */
export async function run() {
  const failed = await countFailedWorktrees({ rounds: 50, atOnce: 8 });
  return [{ name: "8 worktrees at once, 50 rounds", measured: failed, limit: 0, unit: "failures" }];
}
