import type { Text } from "../../core/finding.js";
import type { Stage } from "../graph.js";
import { withoutLineEnds } from "../line-ends.js";
import type { StageCommandEnded, WorkflowEvent } from "./events.js";
import { toolFinding } from "./findings.js";
import type { ContextValue, Token } from "./state.js";
import { newExecution, type Step } from "./step.js";
import { endExecution, verdict } from "./visit.js";

/** Of an output that is in a file the state keeps the beginning. */
const heldBytes = 512;

export function afterCommand(step: Step, token: Token, stage: Stage, event: StageCommandEnded) {
  const { commit = null } = event;
  const now = takeOutput(step, token, event);
  if (event.exitCode === 0 && event.failure === null && !event.timedOut && !event.stopped) {
    return endExecution(step, now, stage, { ...verdict("success"), commit });
  }
  const { reason, body } = toolFinding(event);
  const digest = `${event.failure?.class ?? "exit"} ${event.exitCode} ${reason}`;
  endExecution(step, now, stage, { ...verdict("fail", reason), body, commit, digest });
}

/** What a command has used and printed, however it ended. */
export function takeOutput(step: Step, token: Token, { output, outputFile, seconds }: StageCommandEnded): Token {
  const run = token.run ?? newExecution(step.at, "");
  step.setToken({ ...token, run: { ...run, seconds: run.seconds + seconds } });
  step.write(token.id, { "tool.output": printed(output, outputFile) });
  return step.token(token.id) ?? token;
}

/** As `$(…)` has it in a shell: without the line ends at its end. */
function printed(output: Text, file: Text["ref"]): ContextValue | string {
  const isWhole = output.ref === undefined;
  const value = held(isWhole ? { text: withoutLineEnds(output.text) } : output, file);
  return typeof value === "string" ? value : { ...value, trimmed: true };
}

/** As the state keeps it: the beginning of a text, where the whole of it is in a file. */
export function held(text: Text, file: Text["ref"]): ContextValue | string {
  const ref = text.ref ?? file;
  if (ref === undefined || (text.ref === undefined && text.text.length <= heldBytes)) return text.text;
  return { text: { text: text.text.slice(0, heldBytes), ref } };
}

/** What a workspace stage changes: later stages of this token work in it, until it is removed. */
export function keepWorkspace(step: Step, token: Token, workspace: string, event: WorkflowEvent): void {
  const { [workspace]: known, ...others } = step.state.workspaces;
  if (event.type === "worktree-ready") {
    const { path, branch, baseSha } = event;
    step.set({ workspaces: { ...others, [workspace]: { path, branch, baseSha } } });
    step.setToken({ ...token, workspace });
  } else if (event.type === "worktree-removed" && known) {
    step.set({ workspaces: others });
    const tokens = step.state.tokens.map((one) => (one.workspace === workspace ? { ...one, workspace: null } : one));
    step.set({ tokens });
  }
}
