import { openQuietForge } from "../dist-test/bench-forge.mjs";
import { median, timed } from "./measure.mjs";

/**
 * A look at 100 pull requests of which none has changed, against a forge on loopback: at most one conditional request
 * each, all answered "not modified", so that none counts against the rate limit; and all of them within a second.
 */
const count = 100;
const rounds = 5;

export async function run() {
  const forge = await openQuietForge(count);
  try {
    const times = [];
    const left = forge.budget()?.left;
    const before = forge.seen().length;
    for (let round = 0; round < rounds; round++) {
      let polls = [];
      times.push(await timed(async () => (polls = await forge.pollAll())));
      if (polls.some(({ poll }) => poll.type !== "unchanged")) throw new Error("a quiet pull request has changed");
    }
    const seen = forge.seen().slice(before);
    const counted = seen.filter(({ status }) => status !== 304).length + (left - forge.budget().left);
    return [
      { name: `poll of ${count} quiet pull requests`, measured: median(times), limit: 1000, unit: "ms" },
      { name: "requests for each of them", measured: seen.length / rounds / count, limit: 1, unit: "requests" },
      { name: "of these counted against the rate limit", measured: counted, limit: 0, unit: "requests" },
    ];
  } finally {
    await forge.close();
  }
}
