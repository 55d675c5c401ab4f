import { githubWorld } from "../contract/forge-world.js";

/** For benchmarks: a forge with quiet pull requests, each with one green check, and what was seen of them last. */
export async function openQuietForge(count: number) {
  const world = await githubWorld();
  const cursors = new Map<number, string>();
  for (let index = 0; index < count; index++) {
    const branch = `topic-${index}`;
    const commit = await world.push(branch, { [`${index}.txt`]: "x\n" });
    const wanted = { key: branch, branch, base: "main", title: branch, body: "", draft: false };
    const { number } = await world.forge.openPullRequest(wanted);
    await world.check({ name: "test", commit, status: "success", summary: "" });
    cursors.set(number, "");
  }
  const poll = (number: number) => world.forge.poll(number, cursors.get(number) || null);
  /** All at once, as a watching run does it; the client itself limits how many are sent. */
  const pollAll = () => Promise.all([...cursors.keys()].map(async (number) => ({ number, poll: await poll(number) })));
  world.passTime();
  for (const { number, poll: look } of await pollAll()) {
    if (look.type === "changed") cursors.set(number, look.cursor);
  }
  return {
    pollAll,
    seen: () => world.server.seen.map(({ route, status }) => ({ route, status })),
    budget: () => world.forge.budget?.() ?? null,
    close: () => world.done(),
  };
}
