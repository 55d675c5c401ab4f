import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent, Reviewer, Turn } from "../core/ports/agent.js";
import type { Settings } from "../core/settings.js";
import { git } from "../git/git.js";
import { allowedEnvironment } from "../lib/environment.js";
import { followProgram } from "../lib/process/follow.js";
import { startProgram } from "../lib/process/start.js";
import { stopProgram } from "../lib/process/stop.js";
import { filesOf } from "./perform/turn-files.js";

interface Tried {
  readonly ok: boolean;
  readonly detail: string;
}

const timeoutMs = 120_000;

/** One real call to the model, as small as can be, in an empty repository that is gone afterwards. */
export async function tryProgram(
  program: Agent | Reviewer,
  { settings, env }: { readonly settings: Settings; readonly env: NodeJS.ProcessEnv },
): Promise<Tried> {
  const root = await mkdtemp(join(tmpdir(), "ratchet-try-"));
  const [cwd, folder] = [join(root, "repository"), join(root, "attempt")];
  try {
    await Promise.all([mkdir(cwd), mkdir(folder)]);
    await git(cwd, ["init", "--quiet"]);
    return await callOnce(program, { settings, env, cwd, folder });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

interface Place {
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly folder: string;
}

async function callOnce(program: Agent | Reviewer, { settings, env, cwd, folder }: Place): Promise<Tried> {
  const turn = tinyTurn(settings, { cwd, folder });
  await program.prepare?.(turn);
  const call = program.command(turn);
  const stdinFile = join(folder, "prompt.md");
  await writeFile(stdinFile, "Reply with the single word ok. Use no tool.\n");
  const startedAt = Date.now();
  await startProgram({
    folder,
    argv: call.argv,
    env: { ...allowedEnvironment(env, call.inherit ?? settings.agent.env), ...call.env },
    cwd,
    stdinFile,
    stdoutFile: turn.files.stdout,
    stderrFile: turn.files.stderr,
  });
  const never = new AbortController().signal;
  const end = await followProgram(folder, { signal: never, timeoutAt: startedAt + timeoutMs });
  if (end.type !== "exited") {
    await stopProgram(folder, { first: call.stopSignal, graceMs: 5_000, why: "timed-out" });
    return { ok: false, detail: `no answer within ${timeoutMs / 1000} s` };
  }
  const { outcome, usage } = await program.read(turn.files, end.code);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1);
  if (outcome.type !== "ended") return { ok: false, detail: "reason" in outcome ? outcome.reason : outcome.type };
  const tokens = usage === null ? "" : `, ${usage.input_tokens} tokens in, ${usage.output_tokens} out`;
  return { ok: true, detail: `answered in ${seconds} s${tokens}` };
}

function tinyTurn({ agent }: Settings, { cwd, folder }: Pick<Place, "cwd" | "folder">): Turn {
  return {
    role: "implementer",
    prompt: "implementer",
    runId: "doctor",
    issueId: "doctor",
    stageId: "doctor",
    attempt: 1,
    sessionId: null,
    model: agent.model,
    effort: agent.effort,
    cwd,
    files: filesOf(folder),
    guard: { worktree: cwd, readOnly: true, writable: [] },
    review: null,
  };
}
