import { soak } from "../dist-test/pr-soak.mjs";

/**
 * 200 rework cycles with 5 % of the requests failing, others dropped before or after they were done, and Ratchet killed
 * now and then: every comment is delivered once and answered once, and every pull request ends merged.
 */
const program = new URL("../dist/ratchet.js", import.meta.url).pathname;
const from = (name, otherwise) => Number(process.env[name] ?? otherwise);
/** Shorter and rougher by hand: `PULLS=3 ROUNDS=4 KILLS=5 KILLED=0.8`. */
const size = { pullRequests: from("PULLS", 20), rounds: from("ROUNDS", 10) };
const killing = { first: from("KILLS", 2), chance: from("KILLED", 0.5) };

export async function run() {
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const { cycles, remarks, kills, faults, wrong } = await soak({
    ...size,
    kills: killing,
    program,
    seed,
    log: console.error,
  });
  for (const line of wrong) console.error(line);
  const name = `soak of ${cycles} cycles, ${remarks} remarks, ${faults} failed requests, ${kills} kills (seed ${seed})`;
  return [
    { name: `${name}: what went wrong`, measured: wrong.length, limit: 0, unit: "" },
    { name: "cycles that are missing", measured: size.pullRequests * size.rounds - cycles, limit: 0, unit: "" },
  ];
}
