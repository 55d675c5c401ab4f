import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addIssues, openBench } from "../dist-test/bench-run.mjs";
import { openWorld, places, plainEnvironment } from "./lib/world.mjs";
import { median, runProgram } from "./measure.mjs";

/**
 * What the orchestrator's own process costs: 200 issues, eight at a time. CPU time is what the kernel counted for that
 * process alone, its start included and the programs it started left out; memory is its own peak, without that of the
 * process that it was copied from. Agents that do nothing but say so leave it what every issue takes: claim, worktree,
 * turn, gate, end. For those that commit it also reads their work, merges and lands it, beside their git; a limit in
 * milliseconds is one machine's, so of that its part of all processor time of the run is judged, and the milliseconds are told
 * along, as is how long the same node takes to start here. What else a machine is busy with only ever adds, the disk's own work
 * after the benchmarks before this one included: the least of three runs counts.
 */
const issues = 200;
const tries = 3;
const doesNothing = "cat >/dev/null\necho 'ISSUE_NO_CHANGE: there is nothing to do'\n";
const commits = "cat >/dev/null\necho x >file-$RATCHET_ISSUE_ID && git add -A && git commit -qm work\n";
const probe = (file) => `
import { readFileSync, writeFileSync } from "node:fs";
const peak = () => Number(/^VmHWM:\\s+(\\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
process.on("exit", () => writeFileSync(${JSON.stringify(file)}, JSON.stringify({ ...process.cpuUsage(), peak: peak() })));
`;

/** The processor time of a node that does nothing. */
function startMs() {
  const script = "const { user, system } = process.cpuUsage(); console.log((user + system) / 1000)";
  return median(
    Array.from({ length: 9 }, () => Number(runProgram(process.execPath, ["-e", script], { env: plainEnvironment }))),
  );
}

/** Of everything that this process started and that has ended, with all that those started; in hundredths of a second. */
function startedTicks() {
  const stat = readFileSync("/proc/self/stat", "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[13]) + Number(fields[14]);
}

async function measureLeast(folder, script) {
  const measured = [];
  for (let time = 0; time < tries; time++) measured.push(await measure(folder, script));
  const least = (key) => Math.min(...measured.map((one) => one[key]));
  return {
    perIssueMs: least("perIssueMs"),
    part: least("part"),
    peakMb: Math.max(...measured.map(({ peakMb }) => peakMb)),
  };
}

async function measure(folder, script) {
  const world = openWorld(folder);
  try {
    world.configure({ agent: { type: "command", command: world.script("agent.sh", script) }, max_agents: 8 });
    const bench = await openBench({ cwd: world.repository, home: world.home });
    await addIssues(
      bench,
      Array.from({ length: issues }, (_, index) => `i-${index}`),
    );
    bench.close();
    const [file, usage] = [join(world.root, "probe.mjs"), join(world.root, "usage.json")];
    writeFileSync(file, probe(usage));
    const before = startedTicks();
    await world.start(["run"], ["--import", file]).ended();
    const allMs = (startedTicks() - before) * 10;
    const { user, system, peak } = JSON.parse(readFileSync(usage, "utf8"));
    const ownMs = (user + system) / 1000;
    return { perIssueMs: ownMs / issues, part: ownMs / allMs, peakMb: peak / 1024 };
  } finally {
    world.close();
  }
}

export async function run() {
  const results = [];
  const node = `node -e 0 takes ${startMs().toFixed(0)} ms`;
  for (const place of places) {
    const idle = await measureLeast(place.folder, doesNothing);
    const busy = await measureLeast(place.folder, commits);
    results.push(
      {
        name: `the orchestrator's own CPU time per issue, agents that do nothing, ${place.name} (${issues} issues, 8 at a time; ${node})`,
        measured: idle.perIssueMs,
        limit: 15,
        unit: "ms",
      },
      {
        name: `its part of the run's processor time, agents that commit, ${place.name} (${busy.perIssueMs.toFixed(0)} ms per issue)`,
        measured: busy.part,
        limit: 0.25,
        unit: "x",
      },
      {
        name: `the orchestrator's memory, at most, ${place.name}`,
        measured: Math.max(idle.peakMb, busy.peakMb),
        limit: 200,
        unit: "MB",
      },
    );
  }
  return results;
}
