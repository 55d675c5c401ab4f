import type { Stage, ToolStage, WorkflowStage, WorkspaceStage } from "../graph.js";
import { isVisitedTooOften, stopIdleRounds } from "./breaker.js";
import { endExpired } from "./expire.js";
import { reachExit } from "./goal.js";
import { getsFindings } from "./graph-index.js";
import { beginGate } from "./human.js";
import { beginJoin, fork } from "./parallel.js";
import { attemptsFor } from "./retry.js";
import type { Token } from "./state.js";
import { newExecution, type Step } from "./step.js";
import { beginTurn } from "./turn.js";
import { endVisit, verdict } from "./visit.js";

/** A ready token's stage begins: a new visit, or a further execution of the one it was in. */
export function begin(step: Step, token: Token) {
  const stage = step.stage(token.stage);
  if (token.expired) return endExpired(step, token, stage);
  if (!stage) return step.halt({ status: "fail", stage: token.stage, reason: `there is no stage ${token.stage}` });
  const visit = token.visit === 0 ? newVisit(step, token, stage) : token;
  if (!visit) return;
  step.report({ type: "stage-started", stage: stage.id, visit: visit.visit, attempt: visit.attempt });
  execute(step, visit, stage);
}

function newVisit(step: Step, token: Token, stage: Stage): Token | null {
  if (isVisitedTooOften(step, stage)) return null;
  if (getsFindings(stage)) stopIdleRounds(step, stage.id);
  if (step.state.halt) return null;
  const known = step.record(stage.id);
  const visits = known.visits + 1;
  step.setRecord(stage.id, { ...known, visits });
  const order = [...token.order.slice(0, -1), (token.order.at(-1) ?? 0) + 1];
  return step.setToken({ ...token, visit: visits, attempt: 1, order });
}

function execute(step: Step, token: Token, stage: Stage) {
  switch (stage.kind) {
    case "llm":
      return beginTurn(step, token, stage);
    case "tool":
      return beginCommand(step, token, stage);
    case "human":
      return beginGate(step, token, stage);
    case "parallel":
      return fork(step, token, stage);
    case "join":
      return beginJoin(step, token, stage);
    case "workflow":
      return beginChild(step, token, stage);
    case "workspace.create":
    case "workspace.merge":
    case "workspace.cleanup":
      return beginWorkspace(step, token, stage);
    case "start":
    case "decision":
      return endVisit(step, token, stage, verdict("success"));
    case "exit":
      return reachExit(step, token, stage);
    case "unknown":
      return step.halt({
        status: "fail",
        stage: stage.id,
        reason: `stage ${stage.id} is of unknown type ${stage.type}`,
      });
  }
}

function beginCommand(step: Step, token: Token, stage: ToolStage): void {
  const folder = step.newFolder(stage.id);
  running(step, token, folder);
  const { timeoutMs, cwd } = stage;
  step.owe({ kind: "command", ...about(token, stage), folder, timeoutSeconds: timeoutMs / 1000, cwd });
}

function beginChild(step: Step, token: Token, stage: WorkflowStage): void {
  const folder = step.newFolder(stage.id);
  running(step, token, folder);
  const child = `${stage.id}-v${token.visit}-a${token.attempt}`;
  const broken = token.broken === undefined ? {} : { continues: token.broken };
  step.owe({ kind: "child", ...about(token, stage), child, folder, ref: stage.ref.name, ...broken });
}

const workspaceOps = { "workspace.create": "open", "workspace.merge": "merge", "workspace.cleanup": "remove" } as const;

function beginWorkspace(step: Step, token: Token, stage: WorkspaceStage) {
  const { workspace } = stage;
  const isThere = Object.hasOwn(step.state.workspaces, workspace);
  if (stage.kind !== "workspace.create" && !isThere) {
    return endVisit(step, token, stage, verdict("fail", `there is no workspace ${workspace}`));
  }
  running(step, token, "");
  step.owe({ kind: "worktree", ...about(token, stage), op: workspaceOps[stage.kind], workspace });
}

function running(step: Step, token: Token, folder: string): void {
  const run = token.run ?? newExecution(step.at, folder);
  step.setToken({ ...token, phase: "running", run: { ...run, folder } });
}

function about({ id, visit, attempt, workspace }: Token, stage: Stage) {
  const key = `stage:${stage.id}:v${visit}:a${attempt}`;
  return { key, stage: stage.id, visit, attempt, maxAttempts: attemptsFor(stage, "fail"), token: id, workspace };
}
