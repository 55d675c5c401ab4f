import { readdirSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";
import { findAgent } from "../../scripts/install-agents.mjs";
import type { Script } from "../model-server/script.js";
import { type ModelServer, startModelServer } from "../model-server/server.js";
import { type Sandbox, sandbox } from "../scenarios/sandbox.js";
import { type AcpProgramName, type ProgramName, prepareSurroundings } from "./programs.js";

/** A sandbox in which the real programs work, each with its own configuration in it, and a model server says what they do. */
export interface AgentWorld extends Sandbox {
  readonly server: ModelServer;
  /** What programs wrote outside of the sandbox since it was made. */
  readonly strays: () => string[];
}

export async function agentWorld(script: Script): Promise<AgentWorld> {
  const madeAt = Date.now();
  const box = sandbox();
  const server = await startModelServer({ script, recordFile: join(box.root, "requests.jsonl") });
  onTestFinished(() => server.close());
  Object.assign(box.env, prepareSurroundings({ root: box.root, url: server.url }));
  return { ...box, server, strays: () => findStrays(madeAt) };
}

/** Installed by scripts/install-agents.mjs, which says what it could not install. */
export function isInstalled(program: ProgramName | AcpProgramName): boolean {
  return findAgent(program) !== null;
}

const theirs = /^(\.?claude|\.?codex(?!-daemon-\d+$)|\.pi$|pi-|jiti|\.?opencode|\.?gemini)/;

/**
 * By name: other programs write to these folders too. Codex keeps an empty `/tmp/codex-daemon-<uid>` per user, whatever it is
 * told of temporary folders, and the first of all tests that has a reviewer makes it.
 */
function findStrays(since: number): string[] {
  const homes = [homedir(), join(homedir(), ".config"), join(homedir(), ".cache"), join(homedir(), ".local", "share")];
  const folders = new Set([tmpdir(), "/tmp", "/var/tmp", "/dev/shm", ...homes]);
  return [...folders].flatMap((folder) =>
    listQuietly(folder)
      .filter((name) => theirs.test(name))
      .map((name) => join(folder, name))
      .filter((path) => newestBelow(path) > since),
  );
}

function newestBelow(path: string): number {
  const own = statSync(path, { throwIfNoEntry: false });
  if (!own) return 0;
  const inside = own.isDirectory() ? listQuietly(path).map((name) => newestBelow(join(path, name))) : [];
  return Math.max(own.mtimeMs, ...inside);
}

function listQuietly(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there, or not ours to look at: then nothing of ours is in it.
    return [];
  }
}

/** Whoever ended a moment ago may still be on its way out. */
export async function expectNothingRuns(world: Pick<Sandbox, "processes">): Promise<void> {
  const giveUpAt = Date.now() + 5000;
  while (world.processes().length > 0 && Date.now() < giveUpAt) await delay(20);
  expect(world.processes()).toEqual([]);
}
