import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { commandAgent } from "../../src/agents/command.js";
import { scriptedAgent } from "../../src/agents/scripted/adapter.js";
import type { Turn } from "../../src/core/ports/agent.js";
import { agentSettings } from "./agent-settings.js";
import { agents } from "./process-support.js";

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-agents-"));
  mkdirSync(join(root, "worktree"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function turn(more: Partial<Turn> = {}): Turn {
  const files = {
    folder: root,
    stdout: join(root, "out"),
    stderr: join(root, "err"),
    result: join(root, "result.json"),
  };
  const ids = { runId: "r1", issueId: "i-1", stageId: "implement", sessionId: null };
  return {
    role: "implementer",
    prompt: "implementer",
    attempt: 1,
    model: null,
    effort: null,
    cwd: join(root, "worktree"),
    files,
    guard: { worktree: "/w", readOnly: false, writable: [] },
    review: null,
    ...ids,
    ...more,
  };
}

describe("the command agent", () => {
  test("its program gets the variables, the arguments, the worktree and the prompt of the protocol", () => {
    const agent = commandAgent({ ...agentSettings, command: [join(agents, "tells.sh"), "one", "two three"] });
    const { argv, env } = agent.command(
      turn({ sessionId: "s-1", model: "m", effort: "low", attempt: 3, prompt: "continue" }),
    );
    const { stdout } = spawnSync(argv[0], argv.slice(1), {
      cwd: join(root, "worktree"),
      env: { PATH: process.env.PATH, ...env },
      input: "the {prompt}",
      encoding: "utf8",
    });
    expect(stdout.split("\n")).toEqual([
      "RATCHET_ATTEMPT=3",
      "RATCHET_EFFORT=low",
      "RATCHET_ISSUE_ID=i-1",
      "RATCHET_MODEL=m",
      "RATCHET_PROMPT_KIND=continue",
      `RATCHET_RESULT_FILE=${join(root, "result.json")}`,
      "RATCHET_ROLE=implementer",
      "RATCHET_RUN_ID=r1",
      "RATCHET_SESSION_ID=s-1",
      "RATCHET_STAGE_ID=implement",
      "argument one",
      "argument two three",
      `cwd ${join(root, "worktree")}`,
      "the {prompt}",
    ]);
  });

  test.each([
    [[], "agent.command is empty"],
    [["no-such-agent"], "the program no-such-agent was not found, it is not on PATH"],
    [["./nowhere/agent"], "there is no such file"],
    [["test/agents"], "there is no such file"],
    [["package.json"], "it is not on PATH"],
    [["./package.json"], "is not executable"],
  ])("%j cannot be started: %s", async (command, message) => {
    const missing = await commandAgent({ ...agentSettings, command }).check();
    expect(missing?.message).toContain(message);
    expect(missing?.hint).toMatch(/./);
  });

  test.each([[["sh"]], [["/bin/sh", "-c"]], [["test/agents/lies.sh"]]])("%j can be started", async (command) => {
    expect(await commandAgent({ ...agentSettings, command }).check()).toBe(null);
  });
});

describe("the scripted agent", () => {
  function play(script: string, more: Partial<Turn> = {}) {
    writeFileSync(join(root, "script.yaml"), script);
    const agent = scriptedAgent(
      { ...agentSettings, type: "scripted", script: join(root, "script.yaml") },
      { program: resolve("dist-test/process-scripted.mjs") },
    );
    const { argv, env } = agent.command(turn(more));
    const options = {
      cwd: join(root, "worktree"),
      env: { PATH: process.env.PATH, HOME: root, ...env },
      encoding: "utf8",
    } as const;
    const { status, signal, stdout, stderr } = spawnSync(argv[0], argv.slice(1), options);
    return { status, signal, stdout, stderr };
  }
  const result = () => JSON.parse(readFileSync(join(root, "result.json"), "utf8"));

  test("the first scene that matches acts, and no other", () => {
    const script = `
- {when: {role: reviewer}, do: [{say: reviewer}]}
- {when: {issue: i-1, kind: gate_followup, attempt: 2}, do: [{say: second}]}
- {when: {issue: i-1}, do: [{say: first}]}
- {do: [{say: any}]}
`;
    expect(play(script).stdout).toBe("first\n");
    expect(play(script, { prompt: "gate_followup", attempt: 2 }).stdout).toBe("second\n");
    expect(play(script, { issueId: "i-12" }).stdout).toBe("any\n");
    expect(play(script, { role: "reviewer" }).stdout).toBe("reviewer\n");
  });

  test("without a match the turn ends without change, with a session", () => {
    expect(play("- {when: {issue: other}, do: [{crash: true}]}")).toMatchObject({ status: 0, stdout: "" });
    expect(result()).toEqual({ session_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  });

  test("a verdict goes into the result file, with the session it was given", () => {
    play("- do: [{verdict: fail, findings: [{title: T, priority: 1}]}]", { sessionId: "s-9" });
    expect(result()).toEqual({ session_id: "s-9", verdict: "fail", findings: [{ title: "T", priority: 1 }] });
  });

  test("steps after an exit or a crash are not played", () => {
    expect(play("- do: [{say: a}, {exit: 75}, {say: b}]")).toMatchObject({ status: 75, stdout: "a\n" });
    expect(play("- do: [{say: a}, {crash: true}, {say: b}]")).toMatchObject({ signal: "SIGKILL", stdout: "a\n" });
  });

  test("a commit takes everything, runs no hook, and nothing to commit is fine", () => {
    const worktree = join(root, "worktree");
    execFileSync("git", ["init", "--quiet", worktree]);
    writeFileSync(join(worktree, ".git/hooks/pre-commit"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    const script = "- do: [{write: {path: deep/a.txt, text: hello}}, {commit: One}, {commit: Two}]";
    expect(play(script)).toMatchObject({ status: 0, stderr: "" });
    const log = execFileSync("git", ["-C", worktree, "log", "--format=%an %s", "--name-only"], { encoding: "utf8" });
    expect(log).toBe("Scripted agent One\n\ndeep/a.txt\n");
  });

  test.each(["../out.txt", "/tmp/ratchet-never.txt", "a/../../out.txt", "link/out.txt", "."])(
    "writing to %s is refused",
    (path) => {
      symlinkSync(root, join(root, "worktree", "link"));
      const played = play(`- do: [{write: {path: ${JSON.stringify(path)}, text: x}}, {say: after}]`);
      expect(played).toMatchObject({ status: 2, stdout: "" });
      expect(played.stderr).toContain(`write refused, outside the worktree: ${path}`);
    },
  );

  test("a command that fails ends the turn and is named", () => {
    expect(play("- do: [{run: 'echo hi; exit 3'}, {say: after}]")).toMatchObject({ status: 1, stdout: "hi\n" });
  });

  test("a bad script fails naming file and line", () => {
    const played = play("- do:\n  - dance: 1\n");
    expect(played.status).toBe(2);
    expect(played.stderr).toContain(`${join(root, "script.yaml")}:2: a step is one of`);
  });

  test("a missing script is found before the first turn", async () => {
    const agent = scriptedAgent({ ...agentSettings, script: join(root, "none.yaml") }, { program: "x" });
    expect((await agent.check())?.message).toContain("agent.script cannot be read");
    execFileSync("mkfifo", [join(root, "pipe")]);
    const piped = scriptedAgent({ ...agentSettings, script: join(root, "pipe") }, { program: "x" });
    expect((await piped.check())?.message).toBe("agent.script cannot be read: it is not a file");
    expect((await scriptedAgent(agentSettings, { program: "x" }).check())?.message).toBe("agent.script is not set");
  });
});
