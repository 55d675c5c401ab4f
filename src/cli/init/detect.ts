import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { App } from "../../app.js";
import { codeOf } from "../../lib/errors.js";
import { findExecutable } from "../../lib/executable.js";
import type { Found, FoundAgent } from "./answers.js";
import { availableKinds } from "./available.js";
import { type ProjectFiles, readStacks, telltales } from "./stacks.js";

/** Programs that are agents, in the order they are offered. Whether this version can drive them is asked, not known. */
const agentPrograms: readonly Pick<FoundAgent, "program" | "type" | "command">[] = [
  { program: "claude", type: "claude", command: [] },
  { program: "codex", type: "codex", command: [] },
  { program: "pi", type: "pi", command: [] },
  { program: "gemini", type: "acp", command: ["gemini", "--acp"] },
  { program: "opencode", type: "acp", command: ["opencode", "acp"] },
];

export async function detect(
  dir: string,
  { env, app }: { readonly env: NodeJS.ProcessEnv; readonly app: Pick<App, "ignoredFiles"> },
): Promise<Found> {
  const ignored = await app.ignoredFiles(dir, telltales.locks);
  const isOnPath = (program: string) => findExecutable(program, env.PATH ?? "", dir).state === "found";
  const available = availableKinds();
  return {
    ...readStacks(await readProject(dir), ignored),
    agents: agentPrograms.map((agent) => ({
      ...agent,
      isOnPath: isOnPath(agent.program),
      isAvailable: available.agents.includes(agent.type),
      canReview: available.reviewingAgents.includes(agent.type),
    })),
    reviewers: available.reviewers.map((type) => ({
      type,
      missing: type === "cerberus" && !isOnPath("cerberus") ? "cerberus is not on PATH" : null,
    })),
    triggers: available.triggers,
    triggerReviews: available.triggerReviews,
  };
}

async function readProject(dir: string): Promise<ProjectFiles> {
  const texts = telltales.texts.map(async (name) => [name, await textOf(join(dir, name))] as const);
  const names = telltales.names.map(async (name) => [name, (await isThere(join(dir, name))) ? "" : null] as const);
  return Object.fromEntries(await Promise.all([...texts, ...names]));
}

/** null: not there, or no file to read. */
async function textOf(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "EISDIR", "ENOTDIR"].includes(codeOf(error) ?? "")) return null;
    throw error;
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}
