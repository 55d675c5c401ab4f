import type { Stage } from "../graph.js";
import { takeOutput } from "./command.js";
import type { StageCommandEnded, WorkflowEvent } from "./events.js";
import { toolFinding } from "./findings.js";
import { isReview } from "./graph-index.js";
import { endBranch } from "./parallel.js";
import type { Token } from "./state.js";
import type { Step } from "./step.js";
import { endVisit, machineryFailure, type Verdict, verdict } from "./visit.js";

const timeUp = "the branch's time was up";

/** The branch's time is up. A visit that was under way has failed, as by a time of its own; one that has not begun never was. */
export function endExpired(step: Step, token: Token, stage: Stage | null, event: WorkflowEvent | null = null): void {
  const isBegun = token.visit > 0 && stage !== null;
  const now = isBegun && event?.type === "command-ended" ? takeOutput(step, token, event) : token;
  if (isBegun) endVisit(step, now, stage, failureOf(stage, event));
  const where = isBegun && !isFirst(step, token) ? ` in ${token.stage}` : "";
  endBranch(step, step.token(token.id) ?? now, { outcome: "fail", reason: `its time was up${where}` });
}

function failureOf(stage: Stage, event: WorkflowEvent | null): Verdict {
  if (event?.type !== "command-ended") {
    const said = event?.type === "turn-ended" ? event.reply : undefined;
    return isReview(stage) ? machineryFailure(timeUp, said) : verdict("fail", timeUp);
  }
  const { commit = null } = event;
  return { ...verdict("fail", timeUp), body: toolFinding(outOfTime(event)).body, commit };
}

/** It was ended from outside: that it was is no reason, the time is. */
function outOfTime(event: StageCommandEnded): StageCommandEnded {
  const { failure } = event;
  return failure === null ? event : { ...event, failure: { ...failure, class: "timeout", digest: timeUp } };
}

function isFirst(step: Step, { id, parent, stage }: Token): boolean {
  const block = step.state.blocks.find(({ token }) => token === parent);
  return block?.branches[Number(id.slice(id.lastIndexOf(":") + 1))]?.stage === stage;
}
