import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandAgent } from "../../src/agents/command.js";
import { scriptedAgent } from "../../src/agents/scripted/adapter.js";
import type { Agent, Turn, TurnReading } from "../../src/core/ports/agent.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { agentSettings } from "./agent-settings.js";

/** What every agent adapter must be able to show, each with an agent of its own kind that does it. */
interface Subject {
  readonly does: (what: Behaviour) => Agent;
  readonly broken: () => Agent;
}
type Behaviour =
  | { readonly type: "say"; readonly text: string }
  | { readonly type: "exit"; readonly code: number }
  | { readonly type: "fix"; readonly path: string; readonly text: string; readonly message: string }
  | { readonly type: "crash" };

let root = "";
let worktree = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-agents-"));
  worktree = join(root, "worktree");
  execFileSync("git", ["init", "--quiet", worktree]);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const subjects: Readonly<Record<string, Subject>> = {
  command: {
    does: (what) => commandAgent({ ...agentSettings, command: ["sh", "-c", shellFor(what)] }),
    broken: () => commandAgent({ ...agentSettings, command: ["no-such-agent"] }),
  },
  scripted: {
    does: (what) => scripted([{ when: {}, do: stepsFor(what) }]),
    broken: () => scripted([{ when: {}, do: [{ dance: true }] }]),
  },
};

function shellFor(what: Behaviour): string {
  const session = 's=$RATCHET_SESSION_ID; [ -n "$s" ] || s=new-session';
  const result = `${session}; echo "{\\"session_id\\": \\"$s\\"}" >"$RATCHET_RESULT_FILE"`;
  const identity = "-c user.name=A -c user.email=a@localhost";
  switch (what.type) {
    case "say":
      return `${result}; printf '%s\\n' '${what.text}'`;
    case "exit":
      return `${result}; echo leaving >&2; exit ${what.code}`;
    case "fix":
      return `${result}; echo '${what.text}' >'${what.path}'; git add -A; git ${identity} commit -qm '${what.message}'`;
    case "crash":
      return `${result}; kill -9 $$`;
  }
}

function stepsFor(what: Behaviour): unknown[] {
  switch (what.type) {
    case "say":
      return [{ say: what.text }];
    case "exit":
      return [{ exit: what.code }];
    case "fix":
      return [{ write: { path: what.path, text: `${what.text}\n` } }, { commit: what.message }];
    case "crash":
      return [{ crash: true }];
  }
}

function scripted(scenes: unknown): Agent {
  const script = join(root, "script.yaml");
  writeFileSync(script, JSON.stringify(scenes));
  return scriptedAgent(
    { ...agentSettings, type: "scripted", script },
    { program: resolve("dist-test/process-scripted.mjs") },
  );
}

let turns = 0;
function turnWith(more: Partial<Turn> = {}): Turn {
  const folder = join(root, `attempt-${++turns}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "prompt.md"), "Do it.\n");
  const files = {
    folder,
    stdout: join(folder, "stdout.log"),
    stderr: join(folder, "stderr.log"),
    result: join(folder, "result.json"),
  };
  const ids = { runId: "r1", issueId: "i-1", stageId: "implement", sessionId: null };
  return {
    role: "implementer",
    prompt: "implementer",
    attempt: 1,
    model: null,
    effort: null,
    cwd: worktree,
    files,
    guard: { worktree: "/w", readOnly: false, writable: [] },
    review: null,
    ...ids,
    ...more,
  };
}

async function play(agent: Agent, turn: Turn): Promise<TurnReading> {
  const { argv, env } = agent.command(turn);
  const { folder, stdout, stderr } = turn.files;
  const files = { stdinFile: join(folder, "prompt.md"), stdoutFile: stdout, stderrFile: stderr };
  await startProgram({
    folder,
    argv,
    env: { PATH: process.env.PATH ?? "", HOME: root, ...env },
    cwd: turn.cwd,
    ...files,
  });
  const end = await followProgram(folder, { signal: new AbortController().signal, timeoutAt: Date.now() + 30_000 });
  return agent.read(turn.files, end.type === "exited" ? end.code : null);
}

async function linesOf(agent: Agent, turn: Turn): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of agent.message(turn.files)) lines.push(line);
  return lines;
}

describe.each(Object.entries(subjects))("the %s agent", (_kind, { does, broken }) => {
  test("ends a turn, tells its session, and its message is what it said", async () => {
    const agent = does({ type: "say", text: "ISSUE_NO_CHANGE: nothing to do" });
    expect(await agent.check()).toBe(null);
    const turn = turnWith();
    const reading = await play(agent, turn);
    expect(reading.outcome).toEqual({ type: "ended" });
    expect(reading.sessionId).toMatch(/./);
    expect(await linesOf(agent, turn)).toEqual(["ISSUE_NO_CHANGE: nothing to do"]);
  });

  test("goes on in the session it is given", async () => {
    const turn = turnWith({ sessionId: "session-7", prompt: "gate_followup", attempt: 2 });
    expect((await play(does({ type: "say", text: "hi" }), turn)).sessionId).toBe("session-7");
  });

  test.each([
    [75, "transient"],
    [66, "no-session"],
    [1, "failed"],
    [255, "failed"],
  ])("exit %i is %s", async (code, type) => {
    const reading = await play(does({ type: "exit", code }), turnWith());
    expect(reading.outcome.type).toBe(type);
    expect(reading.sessionId).toMatch(/./);
  });

  test("works in the worktree and commits there", async () => {
    const reading = await play(does({ type: "fix", path: "a.txt", text: "fixed", message: "Fix it" }), turnWith());
    expect(reading.outcome).toEqual({ type: "ended" });
    expect(readFileSync(join(worktree, "a.txt"), "utf8")).toBe("fixed\n");
    const git = (...args: string[]) => execFileSync("git", ["-C", worktree, ...args], { encoding: "utf8" });
    expect(git("log", "--format=%s")).toBe("Fix it\n");
    expect(git("status", "--porcelain")).toBe("");
  });

  test("a crash is a failure, and the session it had is still found", async () => {
    const agent = does({ type: "crash" });
    const turn = turnWith();
    const reading = await play(agent, turn);
    expect(reading.outcome).toMatchObject({ type: "failed", reason: expect.stringContaining("signal 9") });
    expect(reading.sessionId).toMatch(/./);
    expect(await agent.read(turn.files, null)).toMatchObject({
      outcome: { type: "lost" },
      sessionId: reading.sessionId,
    });
  });

  test.each([
    "",
    "not json",
    "[1]",
    '{"session_id": 5, "usage": "x"}',
    "\u0000",
    `{"pad": "${"x".repeat(11_000_000)}", "session_id": "s"}`,
  ])("whatever is in the result file, reading it is no exception (%#)", async (content) => {
    const turn = turnWith();
    writeFileSync(turn.files.result, content);
    expect(await does({ type: "crash" }).read(turn.files, 0)).toEqual({
      outcome: { type: "ended" },
      sessionId: null,
      usage: null,
    });
  });

  test("a turn that left no file at all can be read", async () => {
    const agent = does({ type: "crash" });
    const turn = turnWith();
    expect(await agent.read(turn.files, null)).toEqual({ outcome: { type: "lost" }, sessionId: null, usage: null });
    expect(await linesOf(agent, turn)).toEqual([]);
  });

  test.each(["", "\ufeff"])("session and usage are read from the result file (behind %j)", async (mark) => {
    const turn = turnWith();
    const usage = { input_tokens: 10, output_tokens: 5, cost_usd: 0.25 };
    writeFileSync(turn.files.result, `${mark}${JSON.stringify({ session_id: "s", usage, unknown: true })}`);
    expect(await does({ type: "crash" }).read(turn.files, 0)).toMatchObject({ sessionId: "s", usage });
  });

  test("what is missing before a turn can start is said, with a hint", async () => {
    const missing = await broken().check();
    expect(missing?.message).toMatch(/no-such-agent|dance|a step is one of/);
    expect(missing?.hint).toMatch(/./);
  });
});
