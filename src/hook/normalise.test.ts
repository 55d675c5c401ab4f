import { describe, expect, it } from "vitest";
import { normalise } from "./normalise.js";

const cwd = "/w";
const patch =
  "*** Begin Patch\n*** Add File: a.ts\n+x\n*** Update File: b.ts\n*** Move to: ../c.ts\n*** Delete File: /d\n*** End Patch";

const cases: readonly [tool: string, input: unknown, call: unknown][] = [
  ["Bash", { command: "ls" }, { kind: "shell", command: "ls", cwd }],
  ["bash", { command: "ls", timeout: 3 }, { kind: "shell", command: "ls", cwd }],
  ["exec_command", { cmd: "ls", workdir: "sub" }, { kind: "shell", command: "ls", cwd: "/w/sub" }],
  ["shell", { command: ["bash", "-lc", "a 'b'"] }, { kind: "shell", command: "'bash' '-lc' 'a '\\''b'\\'''", cwd }],
  ["shell", { command: ["apply_patch", patch] }, { kind: "write", paths: ["/w/a.ts", "/w/b.ts", "/c.ts", "/d"] }],
  ["apply_patch", { command: patch }, { kind: "write", paths: ["/w/a.ts", "/w/b.ts", "/c.ts", "/d"] }],
  ["apply_patch", { command: "nothing" }, null],
  ["Write", { file_path: "/x", content: "" }, { kind: "write", paths: ["/x"] }],
  ["MultiEdit", { file_path: "x", edits: [] }, { kind: "write", paths: ["/w/x"] }],
  ["NotebookEdit", { notebook_path: "x" }, { kind: "write", paths: ["/w/x"] }],
  ["edit", { path: "x" }, { kind: "write", paths: ["/w/x"] }],
  ["Edit", {}, null],
  ["Bash", null, null],
  ["Read", { file_path: "~/x" }, { kind: "read", paths: ["/w/~/x"] }],
  ["Grep", { pattern: "x" }, { kind: "read", paths: ["/w"] }],
  ["Glob", { pattern: "*", path: "/etc" }, { kind: "read", paths: ["/etc"] }],
  ["WebFetch", { url: "http://x" }, { kind: "fetch", url: "http://x" }],
  ["TodoWrite", {}, { kind: "other", name: "TodoWrite", reads: true }],
  ["mcp__db__drop", {}, { kind: "other", name: "mcp__db__drop", reads: false }],
  ["constructor", {}, { kind: "other", name: "constructor", reads: false }],
];

describe("tool calls", () => {
  it.each(cases)("of %s with %j are understood", (tool, input, call) => {
    expect(normalise({ tool, input, cwd })).toEqual(call);
  });
});
