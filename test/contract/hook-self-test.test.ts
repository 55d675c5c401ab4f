import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { claudeAgent } from "../../src/agents/claude/adapter.js";
import { codexAgent } from "../../src/agents/codex/adapter.js";
import { piAgent } from "../../src/agents/pi/adapter.js";
import type { AgentPlace } from "../../src/agents/place.js";
import { outcomeOfExit } from "../../src/core/ports/turn-protocol.js";
import type { AgentSettings } from "../../src/core/settings.js";
import { type GuardProof, type ProofPlace, proveGuard } from "../../src/hook/self-test.js";
import { readLastWords } from "../../src/lib/program-files.js";
import { agentSettings } from "./agent-settings.js";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-proof-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A small agent: asks the model for a command, asks the hook where it has one, runs it unless that refused, tells the model. */
const agent = `
import { spawnSync } from "node:child_process";
const [url, hook] = process.argv.slice(2);
const ask = async (body) => (await fetch(url + "/v1/messages", { method: "POST", body: JSON.stringify(body) })).json();
const { command } = await ask({ turn: 1 });
const event = { hook_event_name: "PreToolUse", cwd: process.cwd(), tool_name: "Bash", tool_input: { command } };
const answer = hook ? spawnSync(process.execPath, [hook], { input: JSON.stringify(event), encoding: "utf8" }).stdout : "";
if (!answer.includes("deny")) spawnSync("sh", ["-c", command]);
await ask({ turn: 2 });
`;

interface Tried {
  readonly hook?: string;
  readonly program?: string;
  readonly timeoutMs?: number;
}

function proof({
  hook = resolve("dist-test/hook-program.mjs"),
  program = agent,
  timeoutMs = 30_000,
}: Tried): GuardProof & { starts: ProofPlace[] } {
  const starts: ProofPlace[] = [];
  return {
    name: "tiny",
    key: "one",
    cacheFolder: join(root, "cache", "guards"),
    timeoutMs,
    starts,
    read: async ({ stderr }, code) => {
      const outcome = outcomeOfExit(code, await readLastWords(stderr));
      return { outcome, sessionId: null, usage: null };
    },
    start: async (url, place) => {
      starts.push(place);
      const script = join(place.config, "agent.mjs");
      writeFileSync(script, program);
      const { folder } = place.turn.files;
      const notes = { denied: join(folder, "denied.jsonl"), asked: join(folder, "guard-asked") };
      writeFileSync(join(folder, "guard.json"), JSON.stringify({ ...place.turn.guard, ...notes }));
      return { argv: [process.execPath, script, url, hook], env: { RATCHET_GUARD: join(folder, "guard.json") } };
    },
    replies: ({ body }, { writeProbe }) => ({
      headers: { "content-type": "application/json" },
      chunks: [JSON.stringify(body.includes('"turn":1') ? { command: writeProbe } : {})],
    }),
  };
}

describe("the guard's self-test", () => {
  it("is proven once by a program that asks, and leaves nothing behind", async () => {
    const first = proof({});
    expect(await proveGuard(first)).toBeNull();
    expect(first.starts.map((place) => existsSync(place.turn.cwd))).toEqual([false]);
    const again = proof({});
    expect(await proveGuard(again)).toBeNull();
    expect(again.starts).toEqual([]);
    expect(readdirSync(join(root, "cache", "guards"))).toHaveLength(1);
  });

  it("fails for a program that runs the tool without asking", async () => {
    expect(await proveGuard(proof({ hook: "" }))).toMatchObject({
      message: expect.stringContaining("the guard is not active"),
    });
    expect(existsSync(join(root, "cache"))).toBe(false);
  });

  it("fails for a program whose hook cannot be started, for one that says nothing and for one that hangs", async () => {
    expect(await proveGuard(proof({ hook: join(root, "no-such-hook") }))).not.toBeNull();
    const broken = await proveGuard(proof({ program: "console.error('no login'); process.exit(1)" }));
    expect(broken?.message).toMatch(/did not get as far as a tool.*no login/);
    const hanging = await proveGuard(proof({ program: "setInterval(() => {}, 1000)", timeoutMs: 500 }));
    expect(hanging?.message).toContain("did not end in time");
  });
});

describe("what an agent says of why it cannot be tested", () => {
  const wrongKey = {
    type: "result",
    subtype: "success",
    is_error: true,
    result: "Invalid API key · Please run /login",
  };
  const unauthorized = { type: "turn.failed", error: { message: "unexpected status 401 Unauthorized" } };

  it.each([
    ["claude", claudeAgent, wrongKey, "Invalid API key"],
    ["codex", codexAgent, unauthorized, "401 Unauthorized"],
    ["pi", piAgent, null, "exit code 1"],
  ] as const)("is told in its own words, also those of %s's stream", async (type, agentOf, line, words) => {
    const program = join(root, type);
    const told = line === null ? "" : `echo '${JSON.stringify(line)}'`;
    writeFileSync(program, `#!/bin/sh\n${told}\nexit 1\n`, { mode: 0o755 });
    const [node, own] = [process.execPath, resolve("dist-test/hook-program.mjs")];
    const place: AgentPlace = {
      programs: { node, hook: own, piGuard: own, acp: own },
      env: { PATH: process.env.PATH, RATCHET_HOME: join(root, "home"), CODEX_HOME: join(root, "codex") },
    };
    const settings: AgentSettings = { ...agentSettings, type, command: [program] };
    expect(await agentOf(settings, place).proveGuard?.(root)).toEqual({
      message: expect.stringMatching(new RegExp(`${type} did not get as far as a tool .*\\(.*${words}`)),
      hint: expect.stringContaining("ratchet doctor --call"),
    });
  });
});
