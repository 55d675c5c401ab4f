import { existsSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Turn } from "../../core/ports/agent.js";
import type { AgentSettings } from "../../core/settings.js";
import { type GuardProof, proveGuard, tellWhenSlow, type Unproven } from "../../hook/self-test.js";
import type { ModelReply, ModelRequest } from "../../hook/self-test-model.js";
import { allowedEnvironment } from "../../lib/environment.js";
import { writeDurably } from "../../lib/files.js";
import { hookProof, type Tried } from "../guard-proof.js";
import { toFields, toText } from "../json.js";
import { messagesReply } from "../messages-proof.js";
import type { AgentPlace } from "../place.js";
import { proofKeyName, responsesConfig, responsesReply } from "../responses-proof.js";
import { callBridge, prepareBridge } from "./call.js";
import { generateReply } from "./generate-proof.js";
import { introduce, isKnown } from "./status.js";

/** How a program is led to the proof's model: files in the folder that is its home, and variables. */
interface ModelAt {
  readonly files: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
}

interface Led {
  readonly lead: (url: string, home: string) => ModelAt;
  readonly reply: (request: ModelRequest, command: string) => ModelReply | null;
}

/** Enough for programs that take half a minute to start on a busy machine. */
const timeoutMs = 180_000;

/**
 * Every program must speak the protocol in the version that we know. Those that Ratchet has been run with are led to a
 * model of ours besides, as a turn starts them, and have to ask before they write. Of others nobody here knows how to
 * lead them: what they do without asking, nobody on this side sees.
 */
export async function proveAcpGuard(tried: Tried): Promise<Unproven | null> {
  const { settings, place, dir, asker } = tried;
  const env = allowedEnvironment(place.env, settings.env);
  const greeting = () => introduce(settings.command, env, { cwd: dir, ...(asker ? { signal: asker.signal } : {}) });
  const answer = await tellWhenSlow(settings.command[0] ?? "acp", asker, greeting);
  if (typeof answer === "string") return { message: answer, hint: "correct agent.command; see docs/agents/acp.md" };
  const info = toFields(answer.agentInfo);
  const name = toText(info.name).replace(/^.*\//, "");
  const led = Object.hasOwn(programs, name) && isKnown(info) ? programs[name] : undefined;
  const proof = led === undefined ? null : hookProof("acp", tried);
  if (led === undefined || proof === null) return null;
  const [program = "", ...given] = proof.settings.command;
  // The proof is at work in another folder.
  const inDir = given.map((word) => (!isAbsolute(word) && existsSync(join(dir, word)) ? join(dir, word) : word));
  const command = [program, ...inDir];
  const call = { ...proof, name, timeoutMs, ...startOf(led, { ...proof.settings, command }, place) };
  return proveGuard(call, asker);
}

function startOf(led: Led, settings: AgentSettings, place: AgentPlace): Pick<GuardProof, "start" | "replies"> {
  return {
    start: async (url, { turn, config }) => {
      const { files, env } = led.lead(url, config);
      for (const [path, text] of Object.entries(files)) await writeDurably(join(config, path), text);
      const clean: AgentPlace = { ...place, env: {} };
      const inTurn: Turn = { ...turn, model: null, effort: null };
      await prepareBridge(settings, clean, inTurn);
      const call = callBridge(settings, clean, inTurn);
      return { argv: call.argv, env: { ...call.env, ...env } };
    },
    replies: (request, { writeProbe }) => led.reply(request, writeProbe),
  };
}

const programs: Readonly<Record<string, Led>> = {
  "claude-agent-acp": {
    lead: (url, home) => ({
      files: {},
      env: { CLAUDE_CONFIG_DIR: home, ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "proof" },
    }),
    reply: (request, command) => messagesReply(request, { command, tool: "Bash" }),
  },
  "codex-acp": {
    lead: (url, home) => ({
      files: { "config.toml": responsesConfig(url) },
      env: { CODEX_HOME: home, [proofKeyName]: "proof" },
    }),
    reply: responsesReply,
  },
  OpenCode: {
    lead: (url, home) => ({
      files: { "proof.json": JSON.stringify(openCodeConfig(url)) },
      env: { OPENCODE_CONFIG: join(home, "proof.json"), OPENCODE_DISABLE_MODELS_FETCH: "1" },
    }),
    reply: (request, command) => messagesReply(request, { command, description: "proof", tool: "bash" }),
  },
  "gemini-cli": {
    lead: (url, home) => ({
      files: {},
      // A model that is named is not chosen by another one first.
      env: {
        ...{ GEMINI_CLI_HOME: home, GEMINI_API_KEY: "proof", GOOGLE_GEMINI_BASE_URL: url },
        GEMINI_MODEL: "gemini-2.5-pro",
      },
    }),
    reply: generateReply,
  },
};

function openCodeConfig(url: string): object {
  const models = { proof: { name: "proof", tool_call: true, limit: { context: 100_000, output: 1000 } } };
  const options = { baseURL: `${url}/v1`, apiKey: "proof" };
  const proof = { npm: "@ai-sdk/anthropic", name: "proof", options, models };
  return { provider: { proof }, model: "proof/proof", small_model: "proof/proof" };
}
