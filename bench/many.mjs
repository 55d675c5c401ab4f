import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { addIssues, openBench } from "../dist-test/bench-run.mjs";
import { openWorld, plainEnvironment } from "./lib/world.mjs";
import { median, runProgram } from "./measure.mjs";

/**
 * What the orchestrator's own process costs: 200 issues whose agent only commits, eight at a time. CPU time is what the
 * kernel counted for that process alone, its start included and the programs it started left out; memory is its own peak,
 * without that of the process that it was copied from. A limit in milliseconds is one machine's: how much processor time
 * the same node takes to start here is told along, and what part of all that the run took was its own, beside the agents,
 * git and their shells.
 */
const issues = 200;
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

export async function run() {
  const world = openWorld();
  try {
    const command = world.script(
      "agent.sh",
      "cat >/dev/null\necho x >file-$RATCHET_ISSUE_ID && git add -A && git commit -qm work\n",
    );
    world.configure({ agent: { type: "command", command }, max_agents: 8 });
    const bench = await openBench({ cwd: join(world.root, "repository"), home: world.home });
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
    return [
      {
        name: `the orchestrator's own CPU time per issue (200 issues, 8 at a time; node -e 0 takes ${startMs().toFixed(0)} ms)`,
        measured: (user + system) / 1000 / issues,
        limit: 15,
        unit: "ms",
      },
      {
        name: "its part of the processor time of that run",
        measured: (user + system) / 1000 / allMs,
        limit: 0.25,
        unit: "x",
      },
      { name: "the orchestrator's memory, at most", measured: peak / 1024, limit: 200, unit: "MB" },
    ];
  } finally {
    world.close();
  }
}
