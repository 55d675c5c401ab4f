import { describe, expect, it } from "vitest";
import { piAgent } from "../../src/agents/pi/adapter.js";
import { piStatus } from "../../src/agents/pi/status.js";
import { setStage, testOneWayAgent } from "./one-way-suite.js";
import { agentWorld, isInstalled } from "./world.js";

const subject = {
  create: piAgent,
  env: ["PATH", "HOME", "LANG", "TMPDIR", "PI_*"],
  model: "local/test-model",
  cost: 0.0009375,
  guard: "piGuard",
  limitUntil: null,
} as const;

describe.skipIf(!isInstalled("pi"))("pi as an agent", () => {
  testOneWayAgent(subject);

  it("a prompt of 3 MB arrives whole", async () => {
    const stage = await setStage(subject);
    const prompt = `${"All work and no play. ".repeat(150_000)}The end.`;
    const { reading } = await stage.play(prompt);
    expect(reading.outcome).toEqual({ type: "ended" });
    expect(stage.lastAsked()?.prompt).toBe(prompt);
  });

  it("neither ~ nor @ leads past the guard", async () => {
    const stage = await setStage(subject);
    stage.world.server.follow([
      { when: { toolResults: 0 }, say: [{ write: { path: "~/a.txt", text: "x" } }] },
      { when: { toolResults: 1 }, say: [{ write: { path: `@${stage.world.root}/b.txt`, text: "x" } }] },
      { when: {}, say: [{ text: "I may not." }] },
    ]);
    const { events } = await stage.play("LEAVE");
    expect(events.filter(({ type }) => type === "permission-denied")).toHaveLength(2);
  });

  it("says its version and whether somebody is logged in", async () => {
    const { env, put } = await agentWorld([]);
    const known = { version: expect.stringMatching(/^0\.74\.\d+$/), known: true };
    expect(await piStatus(env)).toEqual({ ...known, loggedIn: true, advice: null });
    put("empty/x", "");
    const without = { PATH: env.PATH, HOME: env.HOME, PI_CODING_AGENT_DIR: put("empty/y", "").replace(/\/y$/, "") };
    expect(await piStatus(without)).toEqual({ ...known, loggedIn: false, advice: expect.stringContaining("/login") });
    expect(await piStatus(env, ["/nowhere/pi"])).toMatchObject({
      version: null,
      advice: expect.stringContaining("npm install"),
    });
  });
});
