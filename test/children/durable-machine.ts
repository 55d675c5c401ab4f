import { appendFileSync, existsSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunReport } from "../../src/core/report.js";
import { drive } from "../../src/durable/drive.js";
import { Driven, Fenced } from "../../src/durable/fenced.js";
import type { KernelEvent, Log, Settled } from "../../src/durable/types.js";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore, type Store } from "../../src/store/store.js";
import { type Done, initialState, type Owed, type ScriptState, scriptOf, transitionOf } from "./durable-scripts.js";

/** Drives one scripted machine; told to, it kills itself at the n-th boundary it passes. */
interface Config {
  readonly home: string;
  readonly machine: string;
  readonly script: string;
  readonly version: number;
  readonly dieAt: number | null;
  readonly force: boolean;
}
const config = JSON.parse(process.argv[2] ?? "{}") as Config;
const home = ratchetHome({ RATCHET_HOME: config.home });

let passed = 0;
function boundary(): void {
  if (passed++ === config.dieAt) process.kill(process.pid, "SIGKILL");
}
function say(line: unknown): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

type ScriptLog = Log<ScriptState, Done | KernelEvent, Owed, RunReport>;
function withBoundaries(log: ScriptLog): ScriptLog {
  return {
    open: async () => {
      boundary();
      const row = await log.open();
      boundary();
      return row;
    },
    commit: async (step) => {
      boundary();
      await log.commit(step);
      boundary();
    },
  };
}

async function perform(store: Store, effect: Owed, signal: AbortSignal): Promise<Settled<Done>> {
  boundary();
  say({ begun: effect.key });
  const settled = await act(store, effect, signal);
  appendFileSync(join(config.home, "performed"), `${effect.key}\n`);
  boundary();
  return settled;
}

async function act(store: Store, effect: Owed, signal: AbortSignal): Promise<Settled<Done>> {
  const done = (value = ""): Settled<Done> => ({ event: { type: "done", key: effect.key, value } });
  switch (effect.kind) {
    case "wait": {
      const { id, body } = await store.nextSignal(config.machine, 0, signal);
      return { ...done(JSON.stringify(body)), signal: id };
    }
    case "timer":
      await sleep(Math.max(0, effect.until - Date.now()), undefined, { signal });
      return done();
    case "hold":
      await fileThere(join(config.home, "release"));
      return done();
    case "forever":
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      say({ aborted: effect.key });
      return done("too late");
    case "big":
      return done("x".repeat(10_000_000));
    default:
      return done();
  }
}

function fileThere(path: string): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!existsSync(path)) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(config.home, look);
    look();
  });
}

const store = await openStore({ home });
const log = store.log<ScriptState, Done | KernelEvent, Owed, RunReport>({
  machine: config.machine,
  kind: "script",
  runId: `run-of-${config.machine}`,
  force: config.force,
  codec: { encode: (state) => state, decode: (state) => state as ScriptState, rows: () => [] },
});
try {
  const state = await drive<ScriptState, Done, Owed, RunReport>({
    log: withBoundaries(log),
    initial: initialState,
    transition: transitionOf(scriptOf(config.script, config.version), config.version),
    perform: (effect, { signal }) => perform(store, effect, signal),
    crashed: (effect, error) => ({ type: "done", key: effect.key, value: `crashed: ${String(error)}` }),
    now: Date.now,
  });
  say({ end: state });
} catch (error) {
  say({ error: error instanceof Error ? error.name : String(error) });
  process.exitCode = error instanceof Fenced ? 7 : error instanceof Driven ? 8 : 1;
  if (process.exitCode === 1) throw error;
} finally {
  store.close();
}
