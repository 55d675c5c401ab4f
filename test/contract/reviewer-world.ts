import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { commandAgent } from "../../src/agents/command.js";
import { scriptedAgent } from "../../src/agents/scripted/adapter.js";
import type { Agent, Reviewer, Turn } from "../../src/core/ports/agent.js";
import type { CerberusSettings } from "../../src/core/settings.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { cerberusReviewer } from "../../src/reviewers/cerberus.js";
import { agentSettings } from "./agent-settings.js";
import { agents } from "./process-support.js";

export interface CerberusPlan {
  readonly spawn?: { readonly code?: number; readonly say?: string; readonly print?: string };
  readonly key?: string;
  readonly stale?: number;
  readonly resolve?: { readonly code: number };
  readonly wait?: {
    readonly code?: number;
    readonly print?: string;
    readonly crash?: boolean;
    readonly hang?: boolean;
    readonly late?: number;
  };
  readonly files?: Readonly<Record<string, unknown>>;
}

export interface ReviewerWorld {
  readonly root: string;
  /** A worktree with two commits on top of `base`. */
  readonly base: string;
  readonly head: string;
  turn(more?: Partial<Turn>): Turn;
  /** Starts the reviewer as a turn does, and reads what it left. */
  play(reviewer: Reviewer): ReturnType<Reviewer["read"]>;
  command(script: string): Agent;
  scripted(steps: readonly unknown[]): Agent;
  cerberus(plan: CerberusPlan, settings?: Partial<CerberusSettings>): Reviewer;
  /** What the stub of cerberus was called with. */
  calls(): string[][];
  done(): void;
}

export function reviewerWorld(): ReviewerWorld {
  const root = mkdtempSync(join(tmpdir(), "ratchet-reviewers-"));
  const folder = join(root, "attempt");
  const worktree = join(root, "worktree");
  mkdirSync(folder);
  writeFileSync(join(root, "prompt.md"), "Review it.");
  const [base = "", head = ""] = commits(worktree);
  const turn: ReviewerWorld["turn"] = (more = {}) => ({
    role: "reviewer",
    prompt: "review",
    runId: "r1",
    issueId: "i-1",
    stageId: "per_issue_review/security",
    sessionId: null,
    attempt: 1,
    model: null,
    effort: null,
    cwd: worktree,
    guard: { worktree, readOnly: true, writable: [] },
    files: {
      folder,
      stdout: join(folder, "stdout.log"),
      stderr: join(folder, "stderr.log"),
      result: join(folder, "result.json"),
    },
    review: { reviewer: "security", baseSha: base, headSha: head },
    ...more,
  });
  return {
    root,
    base,
    head,
    turn,
    play: (reviewer) => play(reviewer, turn(), join(root, "prompt.md")),
    command: (script) => commandAgent({ ...agentSettings, command: ["sh", "-c", script] }),
    scripted: (steps) => {
      const script = join(root, "script.yaml");
      writeFileSync(script, JSON.stringify([{ when: { role: "reviewer", kind: "review" }, do: steps }]));
      const program = resolve("dist-test/process-scripted.mjs");
      return scriptedAgent({ ...agentSettings, type: "scripted", script }, { program });
    },
    cerberus: (plan, settings = {}) => cerberus(root, plan, settings),
    calls: () => readCalls(join(folder, "cerberus", "calls.jsonl")),
    done: () => rmSync(root, { recursive: true, force: true }),
  };
}

function readCalls(path: string): string[][] {
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as string[]);
}

function commits(worktree: string): string[] {
  const identity = { GIT_AUTHOR_NAME: "A", GIT_AUTHOR_EMAIL: "a@localhost", GIT_COMMITTER_NAME: "A" };
  const env = { ...process.env, ...identity, GIT_COMMITTER_EMAIL: "a@localhost" };
  const script =
    'git init -q "$1"; cd "$1"; for n in 0 1 2; do git commit -q --allow-empty -m "$n"; done; git rev-parse HEAD~2 HEAD';
  return execFileSync("sh", ["-c", script, "sh", worktree], { env, encoding: "utf8" }).trim().split("\n");
}

async function play(reviewer: Reviewer, turn: Turn, prompt: string): ReturnType<Reviewer["read"]> {
  const { files, cwd } = turn;
  const { argv, env } = reviewer.command(turn);
  const output = { stdinFile: prompt, stdoutFile: files.stdout, stderrFile: files.stderr };
  await startProgram({ folder: files.folder, argv, env: { PATH: process.env.PATH ?? "", ...env }, cwd, ...output });
  const end = await followProgram(files.folder, {
    signal: new AbortController().signal,
    timeoutAt: Date.now() + 60_000,
  });
  return reviewer.read(files, end.type === "exited" ? end.code : null);
}

function cerberus(root: string, plan: CerberusPlan, settings: Partial<CerberusSettings>): Reviewer {
  const bin = join(root, "bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(agents, "cerberus-stub.mjs")}" "$@"\n`;
  writeFileSync(join(bin, "cerberus"), script);
  chmodSync(join(bin, "cerberus"), 0o755);
  const env = { PATH: `${bin}:${process.env.PATH ?? ""}`, CERBERUS_STUB: JSON.stringify(plan) };
  return cerberusReviewer({
    name: "security",
    settings: { timeout: 30, spawn_args: [], wait_args: [], ...settings, env: { ...env, ...settings.env } },
    program: resolve("dist-test/reviewer-cerberus.mjs"),
    env: { ...process.env, CERBERUS_RUN_KEY: "somebody-else's" },
  });
}
