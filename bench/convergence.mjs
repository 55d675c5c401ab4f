import { ours, parallel, sequential, shortCircuit } from "../dist-test/bench-convergence.mjs";

/**
 * How many turns and how much time it takes until no reviewer finds anything: four ways to put reviews and fixes in
 * order, on the same seeded defects. Ours is the issue machine itself. Simulated are the agent, the reviewers and their
 * seconds, drawn from the same seed for all four; the gate and everything of Ratchet's own is left out of the seconds or
 * the same for all.
 */
const strategies = { "short-circuit": shortCircuit, sequential, parallel, ours };
const seeds = 400;
const p = 0.8;

export async function run() {
  const figures = {};
  for (const breaks of [0, 0.15]) {
    const more = breaks === 0 ? "fixes break nothing" : `a fix breaks something else with probability ${breaks}`;
    console.log(
      `convergence, mean of ${seeds} seeds, p = ${p}, ${more} (simulated agent, reviewers and clock; ours is the real machine)`,
    );
    for (const reviewers of [2, 4, 8]) {
      const means = meansOf({ reviewers, p, breaks });
      figures[`${reviewers} ${breaks}`] = means;
      for (const [name, mean] of Object.entries(means)) console.log(lineOf(reviewers, name, mean));
    }
  }
  return figuresOf(figures);
}

function meansOf(trial) {
  const means = {};
  for (const [name, play] of Object.entries(strategies)) {
    const sum = { turns: 0, reviews: 0, seconds: 0, escaped: 0 };
    for (let seed = 1; seed <= seeds; seed++) {
      const outcome = play({ ...trial, seed });
      for (const key of Object.keys(sum)) sum[key] += outcome[key];
    }
    const { escaped, ...others } = sum;
    means[name] = {
      ...Object.fromEntries(Object.entries(others).map(([key, value]) => [key, value / seeds])),
      escaped,
    };
  }
  return means;
}

function lineOf(reviewers, name, { turns, reviews, seconds }) {
  const cells = [`${turns.toFixed(1)} turns`, `${reviews.toFixed(1)} reviews`, `${(seconds / 60).toFixed(0)} min`];
  return `  ${reviewers} reviewers  ${name.padEnd(14)} ${cells.map((cell) => cell.padStart(13)).join(" ")}`;
}

function figuresOf(all) {
  const four = all["4 0"];
  const ratio = (name, key, other, limit) => ({
    name: `convergence, 4 reviewers, p = ${p}: ${name}`,
    measured: four.ours[key] / four[other][key],
    limit,
    unit: "x",
  });
  return [
    ratio("turns / short-circuit", "turns", "short-circuit", 0.6),
    ratio("turns / sequential accumulation", "turns", "sequential", 1),
    ratio("wall time / parallel", "seconds", "parallel", 1.2),
    {
      name: "defects in a commit that passed, over all of it",
      measured: Object.values(all).reduce((sum, { ours: { escaped } }) => sum + escaped, 0),
      limit: 0,
      unit: "defects",
    },
  ];
}
