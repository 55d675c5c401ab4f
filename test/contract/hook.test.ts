import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const root = mkdtempSync(join(tmpdir(), "ratchet-hook-"));
const worktree = join(root, "wt");
const guard = join(root, "guard.json");
const denied = join(root, "denied.jsonl");
const asked = join(root, "guard-asked");

beforeAll(() => {
  mkdirSync(worktree);
  writeFileSync(guard, JSON.stringify({ worktree, readOnly: false, writable: [], denied, asked }));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function ask(input: unknown, env: Record<string, string> = { RATCHET_GUARD: guard }) {
  const stdin = typeof input === "string" ? input : JSON.stringify(input);
  const path = process.env.PATH ?? "";
  const run = spawnSync(process.execPath, [hookProgram()], {
    input: stdin,
    encoding: "utf8",
    env: { PATH: path, ...env },
  });
  return { code: run.status, answer: run.stdout === "" ? null : JSON.parse(run.stdout).hookSpecificOutput };
}

function hookProgram(): string {
  return resolve("dist-test/hook-program.mjs");
}

function event(tool: string, input: unknown) {
  return { hook_event_name: "PreToolUse", cwd: worktree, tool_name: tool, tool_input: input };
}

describe("the hook program", () => {
  it("says nothing to what is allowed, and shows that it was asked", () => {
    rmSync(asked, { force: true });
    expect(ask(event("Bash", { command: "npm test 2>&1 | tail" }))).toEqual({ code: 0, answer: null });
    expect(existsSync(asked)).toBe(true);
    expect(ask(event("Write", { file_path: join(worktree, "a.ts") })).answer).toBeNull();
    expect(ask(event("mcp__x__y", {})).answer).toBeNull();
  });

  it("refuses with a reason that the agent reads, and writes it down", () => {
    rmSync(denied, { force: true });
    const outside = join(root, "x");
    const calls = [
      event("Bash", { command: `rm -rf ${outside}` }),
      event("Write", { file_path: outside }),
      event("apply_patch", { command: `*** Begin Patch\n*** Update File: a.ts\n*** Move to: ../x\n*** End Patch` }),
      event("Bash", { command: ["bash", "-lc", "git push --force"] }),
    ];
    for (const call of calls) {
      expect(ask(call)).toEqual({
        code: 0,
        answer: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: expect.stringContaining("Ratchet's guard: "),
        },
      });
    }
    const lines = readFileSync(denied, "utf8").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).tool)).toEqual(["Bash", "Write", "apply_patch", "Bash"]);
  });

  it("judges from the folder that the call names", () => {
    mkdirSync(join(worktree, "sub"), { recursive: true });
    const call = event("Bash", { command: "rm ../a" });
    expect(ask({ ...call, cwd: join(worktree, "sub") }).answer).toBeNull();
    expect(ask(call).answer).toMatchObject({ permissionDecision: "deny" });
  });

  it("refuses whatever it cannot judge", () => {
    const broken = join(root, "broken.json");
    writeFileSync(broken, "{");
    const call = event("Bash", { command: "ls" });
    const refused = { code: 2, answer: { permissionDecision: "deny" } };
    expect(ask(call, {})).toMatchObject(refused);
    expect(ask(call, { RATCHET_GUARD: join(root, "missing") })).toMatchObject(refused);
    expect(ask(call, { RATCHET_GUARD: broken })).toMatchObject(refused);
    expect(ask("not json")).toMatchObject(refused);
    expect(ask({ hook_event_name: "PreToolUse" })).toMatchObject(refused);
    expect(ask(event("Bash", {})).answer).toMatchObject({ permissionDecision: "deny" });
    expect(ask(event("Write", {})).answer).toMatchObject({ permissionDecision: "deny" });
  });

  it("is there as soon as a session starts", () => {
    rmSync(asked, { force: true });
    expect(ask({ hook_event_name: "SessionStart", cwd: worktree })).toEqual({ code: 0, answer: null });
    expect(existsSync(asked)).toBe(true);
  });
});
