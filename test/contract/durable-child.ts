import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore, type Store } from "../../src/store/store.js";
import type { ScriptState } from "../children/durable-scripts.js";

/** A scripted machine in a process of its own, and what it says. */
export interface Driver {
  readonly process: ChildProcess;
  /** Resolves when a line with this key was said; fails when the process ends first. */
  said(key: string): Promise<unknown>;
  /** Resolves when it has said this many lines, or has ended. */
  saidLines(count: number): Promise<void>;
  ended(): Promise<{
    readonly code: number | null;
    readonly signal: string | null;
    readonly state: ScriptState | null;
  }>;
}

export interface DriverOptions {
  readonly home: string;
  readonly script: string;
  readonly machine?: string;
  readonly version?: number;
  readonly dieAt?: number;
  readonly force?: boolean;
}

export function startDriver(options: DriverOptions): Driver {
  const config = { machine: "m", version: 1, dieAt: null, force: false, ...options };
  const child = spawn(process.execPath, ["dist-test/durable-machine.mjs", JSON.stringify(config)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
    child.on("close", (code, signal) => resolve({ code, signal })),
  );
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(JSON.parse(line) as Record<string, unknown>);
    tell();
  });
  const find = (key: string) =>
    lines.find((line) => Object.entries(line).some(([name, value]) => `${name} ${value}` === key));
  return {
    process: child,
    said: (key) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const line = find(key);
          if (line === undefined) return;
          waiting.delete(look);
          resolve(line);
        };
        waiting.add(look);
        look();
        void exited.then(() => find(key) ?? reject(new Error(`ended without "${key}": ${JSON.stringify(lines)}`)));
      }),
    saidLines: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (lines.length >= count) resolve();
        };
        waiting.add(look);
        look();
        void exited.then(() => resolve());
      }),
    ended: async () => {
      const exit = await exited;
      const end = lines.find((line) => "end" in line)?.end;
      return { ...exit, state: (end as ScriptState | undefined) ?? null };
    },
  };
}

export async function runDriver(options: DriverOptions) {
  return startDriver(options).ended();
}

/** A state home of its own, gone afterwards. */
export async function withHome<T>(use: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), "ratchet-durable-"));
  try {
    return await use(home);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

export async function withStore<T>(home: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: home }) });
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

/** Keys whose arrival the journal holds, in order. */
export function recordedKeys(home: string, machine = "m"): Promise<string[]> {
  return withStore(home, async (store) =>
    (await store.journal(machine)).flatMap((arrival) => (isDone(arrival) ? [arrival.key] : [])),
  );
}
function isDone(arrival: unknown): arrival is { readonly key: string } {
  return typeof arrival === "object" && arrival !== null && "key" in arrival && typeof arrival.key === "string";
}

/** Keys that were performed to their end, recorded or not, over all processes. */
export function performedKeys(home: string): string[] {
  const path = join(home, "performed");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}
