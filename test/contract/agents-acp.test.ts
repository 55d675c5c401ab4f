import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acpAgent } from "../../src/agents/acp/adapter.js";
import { acpStatus } from "../../src/agents/acp/status.js";
import type { Turn, TurnReading } from "../../src/core/ports/agent.js";
import type { AgentEvent } from "../../src/core/ports/agent-event.js";
import type { AgentSettings } from "../../src/core/settings.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { stopProgram } from "../../src/lib/process/stop.js";
import { agentSettings } from "./agent-settings.js";
import { agents } from "./process-support.js";

let root = "";
let worktree = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-acp-"));
  worktree = join(root, "worktree");
  execFileSync("git", ["init", "--quiet", worktree]);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const program = join(agents, "acp-agent.mjs");
const env = { PATH: process.env.PATH ?? "", SOME_API_KEY: "k" };

function agentWith(...more: string[]) {
  const command = [process.execPath, program, ...more];
  const settings: AgentSettings = { ...agentSettings, type: "acp", command, env: ["PATH", "ACP_SESSIONS"] };
  const programs = { node: process.execPath, hook: "/none", piGuard: "/none", acp: resolve("dist-test/agent-acp.mjs") };
  return acpAgent(settings, { env: { ...env, ACP_SESSIONS: root }, programs });
}

let turns = 0;
function turnWith(prompt: string, more: Partial<Turn> = {}): Turn {
  const folder = join(root, `attempt-${++turns}`);
  mkdirSync(folder);
  writeFileSync(join(folder, "prompt.md"), prompt);
  const file = (name: string) => join(folder, name);
  const files = { folder, stdout: file("out"), stderr: file("err"), result: file("result.json") };
  const ids = { runId: "r1", issueId: "i-1", stageId: "implement", sessionId: null };
  const guard = { worktree, readOnly: false, writable: [] };
  const asked = { role: "implementer", prompt: "implementer", attempt: 1, model: null, effort: null } as const;
  return { ...asked, cwd: worktree, files, guard, review: null, ...ids, ...more };
}

async function start(agent: ReturnType<typeof agentWith>, turn: Turn) {
  await agent.prepare?.(turn);
  const call = agent.command(turn);
  const { folder, stdout, stderr } = turn.files;
  await startProgram({
    folder,
    argv: call.argv,
    env: { ...env, HOME: root, ACP_SESSIONS: root, ...call.env },
    cwd: worktree,
    stdinFile: join(folder, "prompt.md"),
    stdoutFile: stdout,
    stderrFile: stderr,
  });
}

async function end({ files }: Turn) {
  const signal = new AbortController().signal;
  const ended = await followProgram(files.folder, { signal, timeoutAt: Date.now() + 30_000 });
  return ended.type === "exited" ? ended.code : null;
}

async function play(turn: Turn, ...flags: string[]): Promise<TurnReading & { code: number | null }> {
  const agent = agentWith(...flags);
  await start(agent, turn);
  const code = await end(turn);
  return { ...(await agent.read(turn.files, code)), code };
}

function eventsOf({ files }: Turn): AgentEvent[] {
  const reader = agentWith().reader?.(files);
  return readFileSync(files.stdout, "utf8")
    .split("\n")
    .flatMap((line) => [...(reader?.line(line) ?? [])]);
}
const texts = (turn: Turn) => eventsOf(turn).flatMap((event) => (event.type === "text" ? [event.text] : []));
const received = () =>
  readFileSync(join(root, "received.jsonl"), "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line): { method?: string; params?: Record<string, unknown> } => JSON.parse(line));

describe("the acp agent", () => {
  test("a turn has a session, a message, a usage and an end, in a mode in which the program asks", async () => {
    const turn = turnWith("cost 0.25\nsay hello\n");
    expect(await play(turn)).toEqual({
      code: 0,
      outcome: { type: "ended" },
      sessionId: "s-1",
      usage: { input_tokens: 1100, output_tokens: 10, cost_usd: 0.25 },
    });
    expect(texts(turn)).toEqual(["hello"]);
    expect(eventsOf(turn)[0]).toEqual({ type: "session", id: "s-1" });
    const modes = received().filter(({ method }) => method === "session/set_mode");
    expect(modes.map(({ params }) => params?.modeId)).toEqual(["default"]);
  });

  test("it goes on in a session, and what the program tells of it again is not said twice", async () => {
    await play(turnWith("say one"));
    const turn = turnWith("say two", { sessionId: "s-1" });
    expect(await play(turn)).toMatchObject({ outcome: { type: "ended" }, sessionId: "s-1" });
    expect(texts(turn)).toEqual(["two"]);
  });

  test("a session that is gone, or a program that knows none, is told as such", async () => {
    expect(await play(turnWith("say x", { sessionId: "s-7" }))).toMatchObject({
      code: 66,
      outcome: { type: "no-session" },
    });
    const old = turnWith("say x", { sessionId: "s-1" });
    expect((await play(old, "--old")).outcome).toEqual({ type: "no-session" });
  });

  test("what the guard refuses is refused, once and with a reason for people", async () => {
    const outside = join(root, "outside.txt");
    const inside = join(worktree, "a.txt");
    const turn = turnWith(`run git status\nrun git push --force\nwrite ${outside}\nwrite ${inside}\n`);
    expect((await play(turn)).outcome).toEqual({ type: "ended" });
    expect(texts(turn).join("\n")).toBe("git status: yes\ngit push --force: nonot writtenwritten");
    const denied = eventsOf(turn).flatMap((event) => (event.type === "permission-denied" ? [event.tool] : []));
    expect(denied).toEqual(["execute", "write"]);
    expect(readFileSync(inside, "utf8")).toBe("written\n");
    expect(() => readFileSync(outside)).toThrow("ENOENT");
  });

  test("a prompt of any size arrives whole, and noise or a line of 20 MB does not disturb", async () => {
    const turn = turnWith(`noise\nhuge 20000000\nrun git status\nsay done\n${"# long line of text\n".repeat(20_000)}`);
    expect((await play(turn)).outcome).toEqual({ type: "ended" });
    expect(texts(turn).at(-1)).toBe("git status: yesdone");
    const [prompt] = received().filter(({ method }) => method === "session/prompt");
    expect(JSON.stringify(prompt?.params).length).toBeGreaterThan(400_000);
  });

  test.each([
    ["error 429 Too many requests, try again in 60s", 75, "limited"],
    ["error 529 Overloaded", 75, "transient"],
    ["error prompt is too long", 1, "overflow"],
    ["error something else", 1, "failed"],
    ["stop refusal", 1, "failed"],
    ["stop max_tokens", 0, "ended"],
    ["stop dancing", 1, "failed"],
    ["die 3", 75, "transient"],
  ])("%s: exit %i, %s, and the session is known", async (words, code, type) => {
    expect(await play(turnWith(words))).toMatchObject({ code, outcome: { type }, sessionId: "s-1" });
  });

  test("a program that dies says so, with its last words", async () => {
    const { outcome } = await play(turnWith("complain out of cheese\ndie 3"));
    expect(outcome).toEqual({ type: "transient", reason: "the program ended with exit code 3: out of cheese" });
  });

  test("a missing login is named with what to do; a key in the environment is tried first", async () => {
    const { outcome } = await play(turnWith("say x"), "--login");
    expect(outcome).toMatchObject({ type: "failed", reason: expect.stringContaining("log in with the program") });
    expect(received().map(({ method }) => method)).toEqual([
      "initialize",
      "session/new",
      "authenticate",
      "session/new",
    ]);
  });

  test("a version that is not ours is refused before anything is asked of it", async () => {
    expect((await play(turnWith("say x"), "--future")).outcome).toMatchObject({
      reason: expect.stringContaining("version 2"),
    });
    expect(await agentWith("--future").proveGuard?.(root)).toMatchObject({
      message: expect.stringContaining("version 2"),
    });
  });

  test("whoever leaves while the program has not introduced itself ends it, and has proven nothing", async () => {
    const leaving = new AbortController();
    const told: string[] = [];
    const onSlow = (what: string) => {
      told.push(what);
      leaving.abort(new Error("left"));
    };
    const proof = agentWith("--mute").proveGuard?.(root, { signal: leaving.signal, onSlow });
    await expect(proof).rejects.toThrow("left");
    expect(told).toEqual([`${process.execPath}'s guard`]);
  });

  test("a model that the program does not offer is no turn", async () => {
    const { outcome } = await play(turnWith("say x", { model: "big" }));
    expect(outcome).toEqual({ type: "failed", reason: "agent.model: the program has no big; it lets nobody choose" });
  });

  test("stopped, it cancels the prompt, keeps what was said and leaves nobody behind", async () => {
    const agent = agentWith();
    const turn = turnWith("say working\nrun git status\nhang");
    await start(agent, turn);
    await expect.poll(() => (received().length > 3 ? texts(turn) : []), { timeout: 20_000 }).not.toEqual([]);
    await stopProgram(turn.files.folder, { first: "SIGTERM", graceMs: 10_000, why: "stopped" });
    expect(texts(turn)[0]).toBe("working");
    expect((await agent.read(turn.files, null)).sessionId).toBe("s-1");
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain(turn.files.folder);
  });

  test("it tells who it is without being asked to work", async () => {
    const command = [process.execPath, program];
    const status = await acpStatus({ command }, { ...env, ACP_SESSIONS: root });
    expect(status).toMatchObject({ version: "acp-agent 1.0", known: false, loggedIn: null });
    expect((await acpStatus({ command: ["no-such-agent"] }, env)).advice).toContain("no-such-agent");
    expect((await agentWith().check())?.message ?? null).toBe(null);
  });
});
