import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acpAgent } from "../../src/agents/acp/adapter.js";
import { acpStatus } from "../../src/agents/acp/status.js";
import { stopProgram } from "../../src/lib/process/stop.js";
import { follow, type OneWaySubject, setStage, until } from "./one-way-suite.js";
import type { AcpProgramName } from "./programs.js";
import { type AgentWorld, agentWorld, expectNothingRuns, isInstalled } from "./world.js";

const basic = ["PATH", "HOME", "LANG", "TMPDIR", "IS_SANDBOX"];
const env = [...basic, "ANTHROPIC_*", "CLAUDE_*", "OPENAI_*", "CODEX_*", "OPENCODE_*", "GEMINI_*", "GOOGLE_*"];

export interface AcpSubject {
  readonly program: AcpProgramName;
  readonly command: readonly string[];
  readonly model: string | null;
  /** Of an answer of the model server. */
  readonly cost: number | null;
  /** What a turn that is stopped has used; absent: its one answer. null: the program tells it at the end alone. */
  readonly cutOff?: object | null;
  /** It tries again by itself for more than a minute, and makes room by itself when the context is full. */
  readonly isSelfReliant?: true;
  /** It loses a session that it loads in the minute in which it was begun. */
  readonly losesYoungSessions?: true;
}

export function testAcpAgent(given: AcpSubject): void {
  describe(`${given.program} as an agent`, () => testAs(given));
}

function testAs(given: AcpSubject): void {
  const { program, command, model, cost, cutOff, isSelfReliant = false, losesYoungSessions = false } = given;
  const isThere = isInstalled(program);
  const subject: OneWaySubject = { create: acpAgent, env, command, model: "", cost: 0 };
  const stageOf = async () => {
    const stage = await setStage(subject);
    let hasBegun = false;
    const play = async (prompt: string, more: Parameters<typeof stage.play>[1] = {}) => {
      // Whenever it began, it began before this minute's end.
      const now = minute();
      if (losesYoungSessions && hasBegun && more.sessionId) await until(() => minute() !== now);
      hasBegun = true;
      return stage.play(prompt, { model, ...more });
    };
    const start = (prompt: string) => {
      hasBegun = true;
      return stage.start(prompt, { model });
    };
    return { ...stage, play, start };
  };
  const answers = (count: number) => ({
    input_tokens: 1150 * count,
    output_tokens: 10 * count,
    cost_usd: cost === null ? null : expect.closeTo(cost * count, 8),
  });

  it.skipIf(!isThere)("works, says its session at once and what it used, and resumes with its history", async () => {
    const stage = await stageOf();
    const first = await stage.play("WRITE the file");
    expect(first.reading, first.stderr()).toMatchObject({ outcome: { type: "ended" }, usage: answers(3) });
    expect(stage.world.git("log", "--format=%s")).toBe("Add hello\nThe beginning");
    expect(first.events[0]).toEqual({ type: "session", id: first.reading.sessionId });
    expect(await first.message()).toBe("Done: hello.txt is committed.");

    const second = await stage.play("MORE please", { sessionId: first.reading.sessionId });
    const { sessionId } = first.reading;
    expect(second.reading, second.stderr()).toEqual({ outcome: { type: "ended" }, sessionId, usage: answers(2) });
    expect(await second.message()).toBe("Done: more is committed.");
    expect(stage.lastAsked()?.prompts).toBeGreaterThanOrEqual(2);
    await expectNothingRuns(stage.world);
    expect(stage.world.strays()).toEqual([]);
  });

  const mended = [
    ["OVERLOADED", { type: "transient", overloaded: true }],
    ["CONTEXT-OVERFLOW", { type: "overflow" }],
  ] as const;
  it.skipIf(!isThere).each([["RATE-LIMITED", { type: "limited" }], ...(isSelfReliant ? [] : mended)] as const)(
    "%s is no ending",
    async (prompt, outcome) => {
      const stage = await stageOf();
      const { reading, stderr } = await stage.play(prompt);
      expect(reading.outcome, stderr()).toMatchObject(outcome);
    },
  );

  it.skipIf(!isThere)("a session that it does not know is none", async () => {
    const stage = await stageOf();
    const { reading, stderr } = await stage.play("MORE", { sessionId: "22222222-1111-4111-8111-111111111111" });
    expect(reading.outcome, stderr()).toEqual({ type: "no-session" });
  });

  it.skipIf(!isThere)("what leaves the worktree is refused and told, whatever its settings allow", async () => {
    const stage = await stageOf();
    const target = join(stage.world.root, "outside.txt");
    allowEverything(stage.world);
    stage.world.server.follow([
      { when: { toolResults: 0 }, say: [{ shell: `echo out > ${target}` }] },
      { when: {}, say: [{ text: "I may not." }] },
    ]);
    const played = await stage.play("LEAVE");
    expect(played.reading.outcome, played.stderr()).toEqual({ type: "ended" });
    expect(existsSync(target)).toBe(false);
    expect(played.events.filter(({ type }) => type === "permission-denied")).toHaveLength(1);
    expect(readFileSync(join(played.turn.files.folder, "denied.jsonl"), "utf8")).toContain("outside.txt");
  });

  it.skipIf(!isThere)("is proven to ask before it writes", async () => {
    const stage = await stageOf();
    expect(await stage.agent.proveGuard?.(stage.world.dir)).toBeNull();
    expect(readdirSync(join(stage.world.env.RATCHET_HOME ?? "", "proven"))).toHaveLength(1);
    expect(stage.world.server.requests()).toEqual([]);
    await expectNothingRuns(stage.world);
  });

  it.skipIf(!isThere)("a reviewer can read and cannot write", async () => {
    const stage = await stageOf();
    stage.world.server.follow([
      { when: { toolResults: 0 }, say: [{ shell: "cat README.md" }] },
      { when: { toolResults: 1 }, say: [{ shell: "echo mine > README.md" }] },
      { when: {}, say: [{ text: "Reviewed." }] },
    ]);
    const guard = { worktree: stage.world.dir, readOnly: true, writable: [] };
    const played = await stage.play("REVIEW", { role: "reviewer", guard });
    expect(played.reading.outcome, played.stderr()).toEqual({ type: "ended" });
    expect(stage.world.read("README.md")).toBe("# A shop\n");
    expect(stage.lastAsked()?.toolResults[0]).toContain("# A shop");
  });

  it.skipIf(!isThere)("a turn that is stopped leaves nothing running, and its session goes on", async () => {
    const stage = await stageOf();
    const turn = await stage.start("SLEEP a while");
    await until(() => existsSync(join(stage.world.dir, "begun.txt")));
    await stopProgram(turn.files.folder, { first: "SIGTERM", graceMs: 10_000, why: "stopped" });
    await expectNothingRuns(stage.world);
    const stopped = await stage.agent.read(turn.files, null);
    expect(stopped.sessionId).toMatch(/./);
    // One that tells its tokens late may have told them by then: never anything else.
    expect(cutOff === null ? [null, answers(1)] : [cutOff ?? answers(1)]).toContainEqual(stopped.usage);
    const next = await stage.play("MORE please", { sessionId: stopped.sessionId });
    expect(next.reading, next.stderr()).toMatchObject({ outcome: { type: "ended" }, sessionId: stopped.sessionId });
  });

  it.skipIf(!isThere)("a turn is complete although whoever started it was killed", async () => {
    const stage = await stageOf();
    stage.world.server.follow([
      { when: { toolResults: 0 }, say: [{ shell: "echo begun > begun.txt; sleep 1; echo done > done.txt" }] },
      { when: {}, say: [{ text: "All done." }] },
    ]);
    const turn = await stage.turn("GO on", { model });
    const orchestrator = stage.startApart(turn);
    await until(() => existsSync(join(stage.world.dir, "begun.txt")));
    orchestrator.kill("SIGKILL");
    await once(orchestrator, "exit");
    const end = await follow(turn);
    const reading = await stage.agent.read(turn.files, end.type === "exited" ? end.code : null);
    expect(reading).toMatchObject({ outcome: { type: "ended" }, usage: answers(2) });
    expect(stage.world.read("done.txt")).toBe("done\n");
  });

  it.skipIf(!isThere)("says who it is", async () => {
    const world = await agentWorld([]);
    const status = await acpStatus({ command }, world.env);
    expect(status).toMatchObject({ version: expect.stringMatching(new RegExp(program, "i")), known: true });
    await expectNothingRuns(world);
  });
}

function minute(): number {
  return Math.floor(Date.now() / 60_000);
}

/** Settings that an agent could have written for its next turn. */
function allowEverything({ write }: Pick<AgentWorld, "write">): void {
  const permissions = { allow: ["Bash(*)"], defaultMode: "bypassPermissions" };
  write(".claude/settings.json", JSON.stringify({ disableAllHooks: true, permissions }));
  write("opencode.json", JSON.stringify({ permission: "allow", agent: { build: { permission: { bash: "allow" } } } }));
  write(".gemini/settings.json", JSON.stringify({ tools: { allowed: ["run_shell_command"] } }));
}
