import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProgram } from "../../src/lib/process/find.js";
import { rounds } from "../rounds.js";
import { agents, attempts, belongings, text, until } from "./process-support.js";

const { fresh } = attempts();

interface Round {
  readonly folder: string;
  readonly workSeconds: number;
  /** Its orchestrators start their shims ahead. */
  readonly ahead: boolean;
}

let prepared = 0;

/** Every other one with shims that were started ahead. */
function prepare(name: string, workSeconds: number): Round {
  const folder = fresh();
  writeFileSync(join(folder, "prompt.md"), `${name}\n`);
  return { folder, workSeconds, ahead: prepared++ % 2 === 0 };
}

/** Resolves when it is about to start the agent. */
async function orchestrate({ folder, workSeconds, ahead }: Round): Promise<ChildProcess> {
  const args = [folder, join(agents, "records-start.sh"), String(workSeconds), ...(ahead ? ["ahead"] : [])];
  const child = spawn(process.execPath, ["dist-test/process-orchestrator.mjs", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (child.stdout === null) throw new Error("no stdout");
  await once(child.stdout, "data");
  return child;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function killAfter(child: ChildProcess, delayMs: number): Promise<void> {
  const at = performance.now() + delayMs;
  // Timers are too coarse to hit a moment within a spawn.
  while (performance.now() < at) if (at - performance.now() > 5) await new Promise((resolve) => setTimeout(resolve, 1));
  if (hasEnded(child)) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

async function finish(child: ChildProcess): Promise<void> {
  if (!hasEnded(child)) await once(child, "exit");
  expect(child.exitCode).toBe(0);
}

async function expectOneTurn({ folder }: Round, name: string): Promise<void> {
  expect(text(folder, "record")).toMatch(/^start \d+\n$/);
  const harvests = text(folder, "harvest").trim().split("\n");
  for (const harvest of harvests) {
    expect(JSON.parse(harvest)).toEqual({
      end: { type: "exited", code: 0, stopped: null },
      result: `{"session_id": "session of ${name}"}`,
    });
  }
  expect(text(folder, "stdout.log")).toBe(`done with ${name}\n`);
  await until("nothing is left over", () => belongings(folder).length === 0, 3000);
}

test("D1 killed 0-20 ms around the spawn, the next orchestrator finds exactly one agent and its result", async () => {
  const count = rounds(20, 60);
  for (let round = 0; round < count; round++) {
    const name = `round-${round}`;
    const turn = prepare(name, round % 3 === 0 ? 0 : 0.1);
    await killAfter(await orchestrate(turn), ((round + Math.random()) / count) * 20);
    await finish(await orchestrate(turn));
    await expectOneTurn(turn, name);
  }
});

test("D1 killed again and again during the turn, by whoever follows it, there is one agent and its result", async () => {
  for (let round = 0; round < rounds(3, 8); round++) {
    const name = `round-${round}`;
    const turn = prepare(name, 0.5);
    for (const delayMs of [Math.random() * 20, Math.random() * 60, Math.random() * 60]) {
      await killAfter(await orchestrate(turn), delayMs);
    }
    await finish(await orchestrate(turn));
    await expectOneTurn(turn, name);
  }
});

test("two orchestrators at once share one agent", async () => {
  for (let round = 0; round < rounds(3, 8); round++) {
    const name = `round-${round}`;
    const turn = prepare(name, 0.1);
    const both = await Promise.all([orchestrate(turn), orchestrate(turn)]);
    await Promise.all(both.map(finish));
    await expectOneTurn(turn, name);
  }
});

test("a turn that ends while no orchestrator is there leaves its result", async () => {
  const turn = prepare("alone", 0.3);
  const first = await orchestrate(turn);
  await until("the agent runs", () => existsSync(join(turn.folder, "record")));
  await killAfter(first, 0);
  await until("the agent ended", () => findProgram(turn.folder).state === "ended");
  await finish(await orchestrate(turn));
  await expectOneTurn(turn, "alone");
});
