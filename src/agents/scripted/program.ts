import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { messageOf } from "../../lib/errors.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { playSteps } from "./play.js";
import { parseScript, type Scene, type WhenKey } from "./script.js";

/** The scripted agent's own process: finds the scene of this turn and plays it. */
async function main(): Promise<number> {
  const path = process.argv[2] ?? "";
  const parsed = parseScript(readFileSync(path, "utf8"));
  if (!parsed.ok) {
    for (const problem of parsed.problems) process.stderr.write(`${path}:${problem.line}: ${problem.message}\n`);
    return 2;
  }
  const { env } = process;
  const turn: Record<WhenKey, string> = {
    issue: env.RATCHET_ISSUE_ID ?? "",
    role: env.RATCHET_ROLE ?? "",
    kind: env.RATCHET_PROMPT_KIND ?? "",
    attempt: env.RATCHET_ATTEMPT ?? "",
    stage: env.RATCHET_STAGE_ID ?? "",
  };
  return playSteps(parsed.scenes.find((scene) => matches(scene, turn))?.do ?? [], {
    worktree: process.cwd(),
    resultFile: env.RATCHET_RESULT_FILE ?? null,
    sessionId: env.RATCHET_SESSION_ID || randomUUID(),
  });
}

function matches(scene: Scene, turn: Readonly<Record<string, string>>): boolean {
  return Object.entries(scene.when).every(([key, value]) => turn[key] === value);
}

runToEnd(async () => {
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(`scripted agent: ${messageOf(error)}\n`);
    process.exitCode = 2;
  }
});
