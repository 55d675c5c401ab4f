import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexAgent } from "../../src/agents/codex/adapter.js";
import { codexStatus } from "../../src/agents/codex/status.js";
import { testOneWayAgent } from "./one-way-suite.js";
import { agentWorld, isInstalled } from "./world.js";

describe.skipIf(!isInstalled("codex"))("codex as an agent", () => {
  testOneWayAgent({
    create: codexAgent,
    env: ["PATH", "HOME", "LANG", "TMPDIR", "OPENAI_*", "CODEX_*"],
    model: "gpt-5-codex",
    cost: 0.0004125,
    // It tells minutes, so that the end of the minute is waited for.
    limitUntil: Date.UTC(2100, 0, 1, 0, 1),
  });

  it("says its version and whether somebody is logged in", async () => {
    const { env } = await agentWorld([]);
    const known = { version: expect.stringMatching(/^0\.166\.\d+$/), known: true };
    // With a provider of the user's own only a call could tell.
    expect(await codexStatus(env)).toEqual({ ...known, loggedIn: null, advice: null });
    expect(await codexStatus({ ...env, CODEX_API_KEY: "key" })).toEqual({ ...known, loggedIn: true, advice: null });
    const config = join(env.CODEX_HOME ?? "", "config.toml");
    writeFileSync(config, readFileSync(config, "utf8").replace(/^model_provider.*$/m, ""));
    const advice = expect.stringContaining("codex login");
    expect(await codexStatus(env)).toEqual({ ...known, loggedIn: false, advice });
    expect(await codexStatus(env, ["/nowhere/codex"])).toMatchObject({ version: null, known: false });
  });
});
