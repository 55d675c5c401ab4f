import { describe, expect, it } from "vitest";
import { modeFor, modelFor } from "./choices.js";
import { answerRequest, toToolCalls } from "./permission.js";

const seen = { cwd: "/w", isProgram: (name: string) => name === "git" };

describe("what a program asks permission for", () => {
  it.each([
    [{ kind: "execute", rawInput: { command: "ls" } }, [{ kind: "shell", command: "ls", cwd: "/w" }]],
    [{ kind: "execute", rawInput: { command: "ls", cwd: "sub" } }, [{ kind: "shell", command: "ls", cwd: "/w/sub" }]],
    [
      { kind: "execute", rawInput: { command: ["bash", "-lc", "rm x"] } },
      [{ kind: "shell", command: "rm x", cwd: "/w" }],
    ],
    [
      { kind: "execute", rawInput: { command: ["echo", "it's"] } },
      [{ kind: "shell", command: "'echo' 'it'\\''s'", cwd: "/w" }],
    ],
    [{ kind: "execute", title: "git status" }, [{ kind: "shell", command: "git status", cwd: "/w" }]],
    [{ kind: "execute", title: "Shows the state of the repository" }, null],
    [{ kind: "execute" }, null],
    [
      { kind: "other", rawInput: { command: "ls" } },
      [
        { kind: "shell", command: "ls", cwd: "/w" },
        { kind: "other", name: "other", reads: false },
      ],
    ],
    [{ kind: "edit", content: [{ type: "diff", path: "a.txt" }] }, [{ kind: "write", paths: ["/w/a.txt"] }]],
    [{ kind: "read", content: [{ type: "diff", path: "/etc/x" }] }, [{ kind: "write", paths: ["/etc/x"] }]],
    [{ kind: "delete", locations: [{ path: "/etc/x" }] }, [{ kind: "write", paths: ["/etc/x"] }]],
    [{ kind: "edit" }, null],
    [{ kind: "read", rawInput: { file_path: "/etc/x" } }, [{ kind: "read", paths: ["/etc/x"] }]],
    [{ kind: "fetch", rawInput: { url: "http://x" } }, [{ kind: "fetch", url: "http://x" }]],
    [{ title: "Deploy" }, [{ kind: "other", name: "Deploy", reads: false }]],
  ])("%j", (fields, calls) => {
    expect(toToolCalls(fields, seen)).toEqual(calls);
  });

  it("is answered once and never for good, by what an option means and not by its name", () => {
    const options = [
      { optionId: "1", kind: "allow_always" },
      { optionId: "2", kind: "allow_once" },
      { optionId: "3", kind: "reject_once" },
    ];
    expect(answerRequest(options, true).outcome).toEqual({ outcome: "selected", optionId: "2" });
    expect(answerRequest(options, false).outcome).toEqual({ outcome: "selected", optionId: "3" });
    expect(answerRequest([], false).outcome).toEqual({ outcome: "cancelled" });
  });
});

describe("what is chosen for a session", () => {
  it("is a mode that asks, or one that can commit; for a reviewer one that only reads", () => {
    const codex = ["read-only", "workspace-write", "agent", "agent-full-access"];
    expect([modeFor(codex, false), modeFor(codex, true)]).toEqual(["agent-full-access", "read-only"]);
    const claude = ["auto", "default", "plan", "bypassPermissions"];
    expect([modeFor(claude, false), modeFor(claude, true)]).toEqual(["default", "default"]);
    expect(modeFor(["yolo"], false)).toBe(null);
  });

  it("is the model by its name, with its effort where both are one name", () => {
    const offered = ["gpt-6[low]", "gpt-6[high]", "sonnet"];
    expect(modelFor(offered, "gpt-6", "high")).toBe("gpt-6[high]");
    expect(modelFor(offered, "gpt-6", null)).toBe("gpt-6[low]");
    expect(modelFor(offered, "Sonnet", "high")).toBe("sonnet");
    expect(modelFor(offered, "gpt", null)).toBe(null);
  });
});
