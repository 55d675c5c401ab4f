import { openPoolWorld } from "../dist-test/bench-git.mjs";
import { median, timed } from "./measure.mjs";

/**
 * A repository of 20,000 files: a worktree from the pool against a fresh `git worktree add`, in turns, and how long it
 * takes to give one back. In each an agent has committed something and left ignored files behind.
 */
const rounds = 3;

export async function run() {
  const world = await openPoolWorld({ folders: 400, filesEach: 50, ignoredFiles: 2000 });
  try {
    const costs = { add: [], removePlain: [], take: [], release: [], remove: [] };
    await world.open("first");
    world.work("first");
    await world.remove("first");
    for (let round = 0; round < rounds; round++) {
      costs.add.push(await timed(() => world.addPlain(round)));
      costs.removePlain.push(await timed(() => world.removePlain(round)));
      costs.take.push(await timed(() => world.open(`issue-${round}`)));
      if (world.pooled() !== 0) throw new Error("the worktree did not come from the pool");
      world.work(`issue-${round}`);
      costs.remove.push(await timed(() => world.remove(`issue-${round}`)));
      if (world.pooled() !== 1) throw new Error("the worktree did not go to the pool");
      // It is short: one sample a round would tell of the machine's load and nothing else.
      for (let sample = 0; sample < 7; sample++) {
        await world.openDetached();
        costs.release.push(await timed(() => world.releaseDetached()));
      }
    }
    const take = median(costs.take) / median(costs.add);
    const remove = median(costs.remove) / median(costs.removePlain);
    return [
      { name: "20,000 files: a worktree from the pool / git worktree add", measured: take, limit: 0.25, unit: "x" },
      { name: "20,000 files: a worktree is given back", measured: median(costs.release), limit: 50, unit: "ms" },
      { name: "the same after a look for work to park / git worktree remove", measured: remove, limit: 1, unit: "x" },
    ];
  } finally {
    world.close();
  }
}
