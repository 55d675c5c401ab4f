import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { agentNames, findAgent } from "../../scripts/install-agents.mjs";

/** The real programs, as they run against our model server: everything they read and write lies below `root`. */

export type ProgramName = "claude" | "codex" | "pi";
export type AcpProgramName = "claude-agent-acp" | "codex-acp" | "opencode" | "gemini";

export interface Surroundings {
  readonly root: string;
  /** Of the model server. */
  readonly url: string;
}

/** The variables that lead the programs to the model server and keep them inside `root`; writes what they read. */
export function prepareSurroundings({ root, url }: Surroundings): Record<string, string> {
  const folder = (name: string) => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const [claude, codex, pi] = [folder("claude"), folder("codex"), folder("pi")];
  writeFileSync(join(codex, "config.toml"), codexConfig(url));
  writeFileSync(join(pi, "models.json"), `${JSON.stringify(piModels(url), null, 2)}\n`);
  const openCode = join(folder("opencode"), "opencode.json");
  writeFileSync(openCode, `${JSON.stringify(openCodeConfig(url), null, 2)}\n`);
  mkdirSync(join(folder("gemini"), ".gemini"), { recursive: true });
  // Ten attempts of its own are no part of any case.
  writeFileSync(
    join(root, "gemini", ".gemini", "settings.json"),
    `${JSON.stringify({ general: { maxAttempts: 1 } })}\n`,
  );
  return {
    PATH: [...binFolders(), process.env.PATH ?? ""].join(delimiter),
    TMPDIR: folder("tmp"),
    CLAUDE_CONFIG_DIR: claude,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "test-key",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // Without it claude refuses to skip its own questions when root starts it, as in containers.
    IS_SANDBOX: "1",
    CODEX_HOME: codex,
    OPENAI_API_KEY: "test-key",
    PI_CODING_AGENT_DIR: pi,
    PI_OFFLINE: "1",
    OPENCODE_CONFIG: openCode,
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    GEMINI_API_KEY: "test-key",
    GEMINI_CLI_HOME: join(root, "gemini"),
    GOOGLE_GEMINI_BASE_URL: url,
  };
}

function binFolders(): string[] {
  return agentNames.flatMap((name) => {
    const file = findAgent(name);
    return file === null ? [] : [dirname(file)];
  });
}

function codexConfig(url: string): string {
  return `model = "test-model"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.local]
name = "local"
base_url = "${url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`;
}

function piModels(url: string): object {
  const cost = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  const model = { id: "test-model", name: "Test", reasoning: false, input: ["text"], contextWindow: 200_000, cost };
  const provider = { baseUrl: url, apiKey: "test-key", api: "anthropic-messages" };
  return { providers: { local: { ...provider, models: [{ ...model, maxTokens: 8000 }] } } };
}

/** As people have it who want no questions: nothing is asked. */
function openCodeConfig(url: string): object {
  const cost = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
  const model = { name: "Test", tool_call: true, limit: { context: 200_000, output: 8000 }, cost };
  const options = { baseURL: `${url}/v1`, apiKey: "test-key" };
  const local = { npm: "@ai-sdk/anthropic", name: "Local", options, models: { "test-model": model } };
  const permission = { "*": "allow", edit: "allow", bash: { "*": "allow" } };
  return { provider: { local }, model: "local/test-model", small_model: "local/test-model", permission };
}

/** The plain command line of a turn; the prompt comes on stdin. */
export function plainCall(program: ProgramName, session: string | null = null): readonly [string, ...string[]] {
  const resume = (...words: string[]) => (session === null ? [] : [...words, session]);
  return {
    claude: ["claude", ...claudeFlags, ...resume("--resume")] as const,
    codex: ["codex", "exec", "--json", ...resume("resume"), "-"] as const,
    pi: ["pi", "-p", "--mode", "json", "--provider", "local", "--model", "test-model", ...resume("--session")] as const,
  }[program];
}

const claudeFlags = [
  ...["-p", "--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"],
  "--dangerously-skip-permissions",
];

/** The session that a transcript belongs to, from its first line. */
export function sessionIn(stdout: string): string {
  const first: unknown = JSON.parse(stdout.split("\n")[0] ?? "");
  const found = ["session_id", "thread_id", "id"].flatMap((key) => {
    const value = typeof first === "object" && first !== null ? Reflect.get(first, key) : null;
    return typeof value === "string" ? [value] : [];
  });
  if (found[0] === undefined) throw new Error(`no session in: ${stdout.slice(0, 200)}`);
  return found[0];
}
