import type { Rule } from "../model-server/script.js";
import type { ProgramName } from "./programs.js";

/** What happens to a program while its transcript is recorded. The prompt names the case, so the script needs no state. */
export interface Case {
  readonly name: string;
  readonly prompt: string;
  /** "resumed": a turn that works comes first. "unknown": an id that no program has given out. */
  readonly session: "new" | "resumed" | "unknown";
  /** A guard refuses every push. */
  readonly isGuarded?: true;
  /** Sent while a tool runs. "stop" is the one that the program ends cleanly on. */
  readonly signal?: "stop" | "SIGKILL";
  readonly env?: Readonly<Partial<Record<ProgramName, Readonly<Record<string, string>>>>>;
}

// Three minutes of claude's own patience are no part of any case.
const impatient = { claude: { CLAUDE_CODE_MAX_RETRIES: "1" } };
// Plans with a limit are for those who are logged in: an empty key, a token.
const onPlan = {
  claude: { CLAUDE_CODE_MAX_RETRIES: "1", ANTHROPIC_API_KEY: "", CLAUDE_CODE_OAUTH_TOKEN: "sk-ant-oat01-test" },
};

export const cases: readonly Case[] = [
  { name: "success", prompt: "WRITE the file", session: "new" },
  { name: "resume", prompt: "MORE please", session: "resumed" },
  { name: "stale-session", prompt: "MORE please", session: "unknown" },
  { name: "tool-denied", prompt: "PUSH it", session: "new", isGuarded: true },
  { name: "rate-limited-once", prompt: "RATE-LIMITED-ONCE", session: "new" },
  { name: "rate-limited", prompt: "RATE-LIMITED", session: "new", env: impatient },
  { name: "usage-limit", prompt: "USAGE-LIMIT", session: "new", env: onPlan },
  { name: "usage-limit-key", prompt: "USAGE-LIMIT", session: "new", env: impatient },
  { name: "overloaded", prompt: "OVERLOADED", session: "new", env: impatient },
  { name: "server-error", prompt: "SERVER-ERROR", session: "new", env: impatient },
  { name: "unauthorized", prompt: "UNAUTHORIZED", session: "new", env: impatient },
  { name: "context-overflow", prompt: "CONTEXT-OVERFLOW", session: "new", env: impatient },
  { name: "context-overflow-resumed", prompt: "CONTEXT-OVERFLOW", session: "resumed", env: impatient },
  { name: "cut-stream", prompt: "CUT-ONCE", session: "new" },
  { name: "interrupted", prompt: "SLEEP a while", session: "new", signal: "stop" },
  { name: "killed", prompt: "SLEEP a while", session: "new", signal: "SIGKILL" },
];

const push = "git push --force origin main";
/** Codex asks a person only where the model says that the sandbox is in its way. */
const escalation = { cmd: push, sandbox_permissions: "require_escalated", justification: "May I push?" };
const commit = "git add --all && git commit --quiet --message 'Add hello' && git log --oneline | wc -l";
const commitMore = "echo more >> hello.txt && git commit --quiet --all --message 'More' && cat hello.txt";

export const caseScript: readonly Rule[] = [
  { when: { text: "RATE-LIMITED-ONCE" }, times: 1, fault: { kind: "rate-limit", retryAfterSeconds: 1 } },
  { when: { text: "RATE-LIMITED\\s*$" }, fault: { kind: "rate-limit", retryAfterSeconds: 1 } },
  { when: { text: "USAGE-LIMIT" }, fault: { kind: "usage-limit", resetsAt: Date.UTC(2100, 0) / 1000 } },
  { when: { text: "OVERLOADED" }, fault: { kind: "overloaded" } },
  { when: { text: "SERVER-ERROR" }, fault: { kind: "server-error" } },
  { when: { text: "UNAUTHORIZED" }, fault: { kind: "unauthorized" } },
  { when: { text: "CONTEXT-OVERFLOW" }, fault: { kind: "context-overflow" } },
  { when: { text: "CUT-ONCE" }, times: 1, say: [{ text: "The beginning" }], fault: { kind: "cut", afterEvents: 3 } },
  {
    when: { text: "SLEEP", toolResults: 0 },
    say: [{ text: "I wait." }, { shell: "echo begun > begun.txt; sleep 300" }],
  },
  { when: { text: "PUSH", toolResults: 0 }, say: [{ shell: push }] },
  { when: { text: "ESCALATE", toolResults: 0 }, say: [{ tool: { name: "exec_command", input: escalation } }] },
  {
    when: { text: "WRITE", toolResults: 0 },
    say: [{ text: "I write it." }, { write: { path: "hello.txt", text: "hello\n" } }],
  },
  { when: { text: "WRITE", toolResults: 1 }, say: [{ shell: commit }] },
  { when: { text: "WRITE" }, say: [{ text: "Done: hello.txt is committed." }] },
  { when: { text: "MORE", toolResults: 0 }, say: [{ shell: commitMore }] },
  { when: { text: "MORE" }, say: [{ text: "Done: more is committed." }] },
  { when: {}, say: [{ text: "All is well." }] },
];
