import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSignals, openWorld, places } from "./lib/world.mjs";
import { median, timed } from "./measure.mjs";

/**
 * What Ratchet itself adds between two turns: from an agent's last act to the first line of its next prompt at its
 * stdin, with a gate that does nothing but say no, against starting `sh -c true`. Both in turns, while the agent waits.
 * Where the gate is a command, that one start of a shell is its own and is left out. A round makes a dozen small files: on a
 * disk that is slow to make them, as ext4 without a journal is for minutes after many were deleted, that is most of it, so how long
 * one takes is told. What this benchmark has made is removed when all is measured. TMPDIR is the disk that is measured.
 */
const rounds = 25;
const spawnsPerRound = 3;

const agent = (signals) => `
read -r line && echo "asked $RATCHET_ATTEMPT" >${signals.tell}
cat >/dev/null
echo "$RATCHET_ATTEMPT" >file
git add -A && git commit -qm work
echo "ready" >${signals.tell}
read -r go <${signals.wait}
echo "exits" >${signals.tell}
`;

export async function run() {
  const gates = {
    "a gate without a command": null,
    "a gate command that only fails, less its own start": { command: "exit 1" },
  };
  const results = [];
  const worlds = [];
  try {
    for (const place of places) {
      for (const [name, command] of Object.entries(gates)) {
        const world = openWorld(place.folder);
        worlds.push(world);
        const { gaps, spawns } = await measureGaps(world, command);
        const spawnMs = median(spawns);
        const here = `${spawnMs.toFixed(1)} ms; a small file takes ${makeFileMs(world.root).toFixed(2)} ms`;
        results.push({
          name: `agent's exit to its next prompt, ${name}, ${place.name} / sh -c true (${here})`,
          measured: (median(gaps) - (command === null ? 0 : spawnMs)) / spawnMs,
          limit: 5,
          unit: "x",
        });
      }
    }
  } finally {
    for (const world of worlds) world.close();
  }
  return results;
}

async function measureGaps(world, command) {
  const signals = openSignals(world);
  const times = { gaps: [], spawns: [] };
  try {
    // Without a command it is the agent's own word that the gate objects to: there is a commit.
    const text = command ? agent(signals) : `echo "ISSUE_NO_CHANGE: nothing to do"\n${agent(signals)}`;
    world.configure({
      agent: { type: "command", command: world.script("agent.sh", text) },
      max_gate_retries: rounds + 1,
      ...(command ? { commands: { no: command }, evidence_check: { required: ["no"] } } : {}),
    });
    world.ratchet("work", "add", "one", "--id", "one");
    const run = world.start(["run"]);
    await signals.heard("asked");
    for (let round = 0; round < rounds; round++) {
      await signals.heard("ready");
      for (let time = 0; time < spawnsPerRound; time++) times.spawns.push(await timed(spawnNothing));
      signals.go();
      const exit = await signals.heard("exits");
      times.gaps.push((await signals.heard("asked")).at - exit.at);
    }
    await signals.heard("ready");
    signals.go();
    await run.ended(1);
    return times;
  } finally {
    signals.close();
  }
}

/** In a folder of its own, as those of an attempt are. */
function makeFileMs(root) {
  const times = Array.from({ length: 15 }, (_, index) => {
    const folder = join(root, `folder-${index}`);
    const began = performance.now();
    mkdirSync(folder);
    writeFileSync(join(folder, "file"), "text");
    return (performance.now() - began) / 2;
  });
  return median(times);
}

async function spawnNothing() {
  await once(spawn("sh", ["-c", "true"], { stdio: "ignore" }), "exit");
}
