import { addUsage } from "../core/budget.js";
import type { IssueEffect } from "../core/issue/effects.js";
import type { IssueEvent } from "../core/issue/events.js";
import type { IssueLife } from "../core/issue/state.js";
import { settleOlder } from "../core/ledger/settle-older.js";
import type { Tracker } from "../core/ports/tracker.js";
import { project } from "../core/project.js";
import type { RunReport } from "../core/report.js";
import type { RunEffect, RunEvent } from "../core/run/effects.js";
import type { RunState } from "../core/run/state.js";
import type { Settings } from "../core/settings.js";
import type { History, Journal } from "../run/context.js";
import { resumeFrom } from "../run/resume.js";
import { type FollowUpsMade, isTelling, type OutboxRows, type OwedTelling } from "../run/tracker-outbox.js";
import type { WorkflowMachine } from "../run/workflow/context.js";
import { followUpsName } from "../store/inbox.js";
import type { Store } from "../store/store.js";
import { isAtWork } from "../store/unfinished-lives.js";
import type { WorkflowEffect } from "../workflow/machine/effects.js";
import type { WorkflowEvent } from "../workflow/machine/events.js";
import type { WorkflowLife } from "../workflow/machine/state.js";

interface Frame {
  readonly runId: string;
  readonly projectId: string;
  readonly settings: Settings;
}

/** How the machines' states cross the store: a life's ledger is rows of its own, its state is JSON. */
export function journalOf(store: Store, { runId, projectId }: Frame): Journal {
  return {
    run: (machine) =>
      store.log<RunState, RunEvent, RunEffect, RunReport>({
        machine,
        kind: "run",
        runId,
        codec: {
          encode: (state) => state,
          decode: (state) => state as RunState,
          rows: (event) => project(event, null),
        },
      }),
    life: (machine, issueId) =>
      store.log<IssueLife, IssueEvent, IssueEffect, RunReport>({
        machine,
        kind: "issue",
        runId,
        codec: {
          encode: (life) => life.state,
          decode: (state, findings) => ({ state: state as IssueLife["state"], ledger: { issueId, findings } }),
          ledgerIssue: { projectId, issueId },
          rows: (event, life) => project(event, life.ledger),
        },
      }),
  };
}

/** A workflow's life: like an issue's, its ledger is rows of its own. */
export function workflowLogOf(store: Store, { runId, projectId }: Pick<Frame, "runId" | "projectId">) {
  return ({ id, kind, ledgerId: issueId }: WorkflowMachine) =>
    store.log<WorkflowLife, WorkflowEvent, WorkflowEffect, RunReport>({
      machine: id,
      kind,
      runId,
      codec: {
        encode: (life) => life.state,
        decode: (state, findings) => ({ state: state as WorkflowLife["state"], ledger: { issueId, findings } }),
        ledgerIssue: { projectId, issueId },
        rows: (event, life) => project(event, life.ledger),
      },
    });
}

/** What trackers are still to be told, oldest first: of a project, or of all. Nothing is asked of them. */
export async function owedTellings(store: Store, projectId: string | null): Promise<OwedTelling[]> {
  return (await store.signalsOf("outbox:")).flatMap(({ machine, body: telling, at: since }) => {
    const [, tracker = "", ...rest] = machine.split(":");
    const of = rest.join(":");
    if (!isTrackerKind(tracker) || !isTelling(telling) || (projectId !== null && of !== projectId)) return [];
    return [{ tracker, projectId: of, since, telling }];
  });
}

function isTrackerKind(name: string): name is Tracker["kind"] {
  return name === "local" || name === "beads" || name === "github";
}

/** In an inbox that no machine reads: one for each project and kind of tracker. */
export function outboxRows(
  store: Store,
  { tracker, projectId }: { readonly tracker: Tracker["kind"]; readonly projectId: string },
): OutboxRows {
  const name = `outbox:${tracker}:${projectId}`;
  return {
    add: async (telling) => void (await store.signal(name, telling)),
    all: async () => (await store.signals(name)).map(({ id, body }) => ({ id, telling: body })),
    drop: (id) => store.dropSignal(name, id),
    waive: async ({ of: issueId, id, reason }) => {
      const open = await store.findings({ projectId, issueId, all: false });
      if (open.some((finding) => finding.id === id))
        await store.waiveDirect({ projectId, issueId, id, reason, letGo: true });
    },
  };
}

/** In an inbox that no machine reads, too; it goes with the run. */
export function followUpsMade(store: Store, runId: string): FollowUpsMade {
  const name = followUpsName(runId);
  return {
    add: async (id) => void (await store.signal(name, id)),
    all: async () => (await store.signals(name)).map(({ body }) => String(body)),
  };
}

export function historyOf(store: Store, { runId, projectId, settings }: Frame): History {
  const ledger = async (issueId: string) => ({
    issueId,
    findings: await store.findings({ projectId, issueId, all: true }),
  });
  return {
    ledger,
    settleOlder: async (trigger, later) => {
      const unfinished = (await store.unfinishedRuns(projectId)).map(({ run }) => run.runId);
      for (const finding of await store.findings({ projectId, all: false })) {
        const { stage, issue_id: of, run_id } = finding;
        // Those of runs are kept under the run's id; one that is not at its end keeps its own.
        const isOlder = of === run_id && of !== runId && !unfinished.includes(of);
        const how = stage === trigger && isOlder ? settleOlder(finding, { ...later, runId }) : null;
        if (how === null) continue;
        await store.closeDirect({ projectId, finding, close: { ...how, at: Date.now(), commit: null } });
      }
    },
    record: async (issueId) => (await store.issueRecord(runId, issueId))?.record ?? null,
    landed: async (issueId) => {
      for (const id of await store.runsWith(projectId, issueId)) {
        const { base_sha: baseSha = null, commit = null } = (await store.issueRecord(id, issueId))?.record ?? {};
        if (baseSha !== null && commit !== null) return { baseSha, commit };
      }
      return null;
    },
    lastStepAt: () => store.lastStepAt(runId),
    spent: async () => {
      const own = (await store.run(runId)).record.trigger_usage;
      const used = (await store.issueRecords(runId)).map(({ record }) => record.usage);
      return [...used, ...(own ? [own] : [])].reduce(addUsage, { tokens: 0, usd: 0 });
    },
    endedElsewhere: async (issueId) => (await store.endedElsewhere({ projectId, issueId, runId })) !== null,
    livedElsewhere: async (issueId) =>
      (await store.unfinishedLives(projectId, runId)).some((life) => life.issueId === issueId && isAtWork(life)),
    earlier: async (issueId) => {
      const { next, last } = await store.pastLives(projectId, issueId);
      const resume = last === null ? null : resumeFrom(last, await ledger(issueId), settings.agent);
      return { nextLife: next, resume };
    },
  };
}
