import { join } from "node:path";
import type { IssueEffect } from "../core/issue/effects.js";
import type { IssueEvent } from "../core/issue/events.js";
import { issueMachine } from "../core/issue/machine.js";
import { type IssueLife, newIssue } from "../core/issue/state.js";
import type { RunReport } from "../core/report.js";
import type { IssueStart } from "../core/run/effects.js";
import { drive } from "../durable/drive.js";
import { messageOf } from "../lib/errors.js";
import { issueMachineId, type LifeContext, type RunContext } from "./context.js";
import { issuePerformer } from "./perform/index.js";

/** Drives one life of an issue to its end, from wherever its journal stands. */
export async function driveIssue(run: RunContext, start: IssueStart, stop: AbortSignal): Promise<IssueLife> {
  const machine = issueMachineId(run.runId, start.issueId, start.life);
  let current: IssueLife = { state: newIssue(start), ledger: await run.history.ledger(start.issueId) };
  const life: LifeContext = {
    run,
    machine,
    issueId: start.issueId,
    title: start.title,
    ledger: () => current.ledger,
    state: () => current.state,
    pending: new Map(),
  };
  try {
    return await drive<IssueLife, IssueEvent, IssueEffect, RunReport>({
      log: run.journal.life(machine, start.issueId),
      initial: current,
      transition: issueMachine({
        settings: run.settings,
        runId: run.runId,
        projectId: run.projectId,
        target: run.target,
        options: run.options,
        promptPath: (folder) => join(run.home.attempt(run.runId, start.issueId, folder), "prompt.md"),
      }),
      perform: issuePerformer(life),
      crashed: (effect, error) => ({
        type: "crashed",
        key: effect.key,
        effect: effect.kind,
        message: messageOf(error),
      }),
      now: () => run.clock.now(),
      stop,
      onCommit: (state) => {
        current = state;
        // Whoever goes back to work on a failed landing lets the next one land meanwhile.
        if (state.state.phase !== "finalizing") run.landing.release(machine);
      },
    });
  } finally {
    run.slots.dropKept(start.issueId);
    run.landing.release(machine);
  }
}
