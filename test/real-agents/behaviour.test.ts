import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Answer, Asked } from "../model-server/script.js";
import { eventsOf, until } from "../scenarios/sandbox.js";
import { type AgentWorld, agentWorld, expectNothingRuns, isInstalled } from "./world.js";

const claude = { type: "claude", model: "claude-sonnet-4-5" } as const;
const commands = { commands: { test: "test -f done.txt" }, evidence_check: { required: ["test"] } };

/** Does the work in one shell command; `before` may answer in its place. */
function worker(before: (asked: Asked) => Answer | null) {
  return (asked: Asked): Answer | null => {
    const early = before(asked);
    if (early || asked.prompt.includes("ratchet-guard-probe")) return early;
    const shell = 'echo done > done.txt && git add done.txt && git commit -qm "Do it"';
    return { say: asked.toolResults.length === 0 ? [{ shell }] : [{ text: "Done." }] };
  };
}

/** Claude on a plan, which is what has limits with an end. */
function onPlan(world: AgentWorld): void {
  Object.assign(world.env, { ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-test" });
}

describe("a plan that is used up", () => {
  it.skipIf(!isInstalled("claude"))("is waited for until it is there again, and status says so", async () => {
    const resetsAt = Math.ceil(Date.now() / 1000) + 20;
    const world = await agentWorld(
      worker(() => (Date.now() / 1000 < resetsAt ? { say: [], fault: { kind: "usage-limit", resetsAt } } : null)),
    );
    onPlan(world);
    world.configure({ ...commands, agent: claude });
    await world.add("one");
    const run = world.start(["run", "--json"]);
    await until("it waits", () => run.isEnded() || run.stdout().includes('"type":"waiting"'), 60_000);
    const status = JSON.parse((await world.ratchet("status", "--json")).stdout);
    expect(status.runs[0].issues[0].waiting_for).toContain("usage limit");
    const ended = await run.ended;
    expect(ended.code, ended.stdout).toBe(0);
    const waiting = eventsOf(ended).flatMap((event) => (event.type === "waiting" ? [event.until] : []));
    expect(waiting).toEqual([new Date(resetsAt * 1000).toISOString()]);
  });

  it.skipIf(!isInstalled("claude") || !isInstalled("codex"))(
    "is not waited for where another agent is named, which is said",
    async () => {
      const fault = { kind: "usage-limit", resetsAt: Math.ceil(Date.now() / 1000) + 3600 } as const;
      const world = await agentWorld(worker(({ api }) => (api === "messages" ? { say: [], fault } : null)));
      onPlan(world);
      world.configure({ ...commands, agent: { ...claude, fallback: { type: "codex", model: "test-model" } } });
      await world.add("one");
      const ended = await world.ratchet("run", "--json");
      expect(ended.code, ended.stdout).toBe(0);
      expect(eventsOf(ended).filter(({ type }) => type === "agent-changed")).toMatchObject([
        { agent: "codex", model: "test-model" },
      ]);
      expect(await world.issue("one")).toMatchObject({ status: "success", agent: "codex" });
    },
  );
});

describe("an agent that would spend more than its budget", () => {
  it.skipIf(!isInstalled("claude"))("is stopped in the middle of its turn", async () => {
    const world = await agentWorld(({ toolResults, prompt }) =>
      prompt.includes("ratchet-guard-probe")
        ? null
        : { say: [{ shell: `echo ${toolResults.length} >> count.txt` }], usage: { input: 100_000 } },
    );
    world.configure({ ...commands, agent: claude, budgets: { issue: { tokens: 250_000 } } });
    await world.add("one");
    const ended = await world.ratchet("run", "--json");
    expect(ended.code, ended.stdout).toBe(1);
    const issue = await world.issue("one");
    expect(issue).toMatchObject({ status: "escalated", error: "budget" });
    expect(issue.usage.input_tokens).toBeLessThan(900_000);
    await expectNothingRuns(world);
  });
});

describe("agent.sandbox: bwrap", () => {
  const works = spawnSync("bwrap", ["--ro-bind", "/", "/", "--dev", "/dev", "--", "true"]).status === 0;
  it.skipIf(!works || !isInstalled("codex"))("lets the agent work, and no program of it write elsewhere", async () => {
    const world = await agentWorld(({ toolResults, prompt }) => {
      if (prompt.includes("ratchet-guard-probe")) return null;
      const outside = `node -e 'require("fs").writeFileSync("${world.root}/outside.txt", "x")'`;
      const shell = `${outside}; echo done > done.txt && git add done.txt && git commit -qm "Do it"`;
      return { say: toolResults.length === 0 ? [{ shell }] : [{ text: "Done." }] };
    });
    world.configure({ ...commands, agent: { type: "codex", model: "test-model", sandbox: "bwrap" } });
    await world.add("one");
    const ended = await world.ratchet("run");
    expect(ended.code, ended.stdout).toBe(0);
    expect(world.read("done.txt")).toBe("done\n");
    expect(existsSync(`${world.root}/outside.txt`)).toBe(false);
  });
});

describe("doctor", () => {
  it.skipIf(!isInstalled("pi"))("knows the version, and makes one small call when it is asked to", async () => {
    const world = await agentWorld(() => ({ say: [{ text: "ok" }] }));
    world.configure({ ...commands, agent: { type: "pi", model: "local/test-model" } });
    const ended = await world.ratchet("doctor", "--call", "--json");
    const { checks } = JSON.parse(ended.stdout);
    expect(checks).toContainEqual(expect.objectContaining({ name: "agent", ok: true, advice: null }));
    expect(checks).toContainEqual(
      expect.objectContaining({ name: "agent, called", ok: true, detail: expect.stringContaining("answered in") }),
    );
    expect(ended.code).toBe(0);
  });
});
