import { describe, expect, it } from "vitest";
import { claudeAgent } from "../../src/agents/claude/adapter.js";
import { claudeStatus } from "../../src/agents/claude/status.js";
import { testOneWayAgent } from "./one-way-suite.js";
import { agentWorld, isInstalled } from "./world.js";

describe.skipIf(!isInstalled("claude"))("claude as an agent", () => {
  testOneWayAgent({
    create: claudeAgent,
    env: ["PATH", "HOME", "LANG", "TMPDIR", "ANTHROPIC_*", "CLAUDE_*"],
    model: "claude-sonnet-4-5",
    cost: 0.0009375,
    onPlan: { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-test" },
  });

  it("says its version and whether somebody is logged in", async () => {
    const { env } = await agentWorld([]);
    const known = { version: expect.stringMatching(/^2\.1\.\d+$/), known: true };
    expect(await claudeStatus(env)).toEqual({ ...known, loggedIn: true, advice: null });
    const { ANTHROPIC_API_KEY: _key, ...without } = env;
    expect(await claudeStatus(without)).toEqual({
      ...known,
      loggedIn: false,
      advice: expect.stringContaining("/login"),
    });
    expect(await claudeStatus(env, ["/nowhere/claude"])).toMatchObject({
      version: null,
      advice: expect.stringContaining("npm install"),
    });
  });
});
