import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "./measure.mjs";

/** From the start of a process to its first new step, after kill -9 of one that had made 1,000. */
const program = new URL("../dist-test/bench-restart.mjs", import.meta.url).pathname;
const steps = 1000;

export async function run() {
  const times = [];
  for (let round = 0; round < 5; round++) {
    const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
    try {
      const first = await until("waiting", folder);
      await kill(first.child);
      const second = await until("step", folder);
      await kill(second.child);
      times.push(second.ms);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
  return [{ name: "first step after kill -9 with 1,000 finished", measured: median(times), limit: 1000, unit: "ms" }];
}

async function until(word, home) {
  const start = performance.now();
  const child = spawn(process.execPath, [program, home, String(steps)], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const chunk of child.stdout) if (String(chunk).includes(word)) break;
  return { child, ms: performance.now() - start };
}

async function kill(child) {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}
