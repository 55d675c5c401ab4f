import type { Store } from "../../app.js";
import { sayWith } from "../../core/ledger/render-words.js";
import type { IssueRecord, RunRecord } from "../../core/record.js";
import type { PublicEvent } from "../../core/report.js";
import { messageOf } from "../../lib/errors.js";
import { readAllKept } from "../../lib/long-text.js";
import { withoutSecrets } from "../../lib/redact.js";
import { renderColumns } from "../../views/columns.js";
import { unknownTime } from "../../views/foreign-record.js";
import { logLines } from "../../views/log-lines.js";
import { toRunRecord } from "../../views/record.js";
import { emptySummary, foldSummary, type Summary } from "../../views/summary.js";
import { WorkflowHistory, type WorkflowRecord } from "../../views/workflow-record.js";
import { boardScope, findRun, idOf, unknownYet } from "../board-scope.js";
import type { Context } from "../context.js";
import { summaryLines } from "../lacking.js";
import { parseCount } from "../parse-count.js";
import { roomOf } from "../room.js";
import { howUndriven, tellUndriven, undrivenRuns } from "../undriven.js";
import { byExecution, toJson } from "./findings.js";

interface Json {
  readonly json?: boolean;
}

const columns = [
  { title: "RUN" },
  { title: "STATUS", least: 6 },
  { title: "EXIT", align: "right" },
  { title: "STARTED", drop: 1 },
  { title: "PROJECT", least: 6, drop: 2 },
] as const;

export async function listRuns(
  context: Context,
  { all, json, limit }: Json & { readonly all?: boolean; readonly limit: string },
): Promise<number> {
  const { app, out } = context;
  const most = parseCount("--limit", limit);
  const store = await app.store("reader");
  const scope = await boardScope(context, store, { all: all ?? false });
  if (scope.type === "unknown") out.note(unknownYet(scope.root));
  const runs = await store.runs(idOf(scope), most);
  if (json) {
    out.json(runs.map(({ record: { config: _config, ...head } }) => head));
    return 0;
  }
  if (runs.length === 0) out.line("No runs yet. Start one with `ratchet run`.");
  else {
    const undriven = await undrivenRuns(store, idOf(scope));
    const rows = runs.map(({ runId, status, startedAt, projectId, record }) => [
      runId,
      undriven.has(runId) ? "nobody drives it" : status,
      String(record.exit_code ?? "-"),
      startedAt === unknownTime ? "-" : startedAt,
      projectId,
    ]);
    for (const line of renderColumns(columns, rows, await roomOf(out, rows))) out.line(line);
  }
  return 0;
}

/** The record, also while the run is going on. */
export async function showRun(context: Context, which: string, { json }: Json): Promise<number> {
  const { app, out } = context;
  const store = await app.store("reader");
  const run = await findRun(context, store, which);
  if (json) {
    const { issues, ...head } = await store.runRecord(run);
    const whole = await Promise.all(Object.values(issues).map(withWholeTexts));
    const workflow = await workflowOf(context, store, run);
    const shown = { ...head, config: withoutSecrets(head.config) };
    out.json(toRunRecord({ run: shown, issues: whole, workflow, now: Date.now() }) satisfies RunRecord);
    return 0;
  }
  let summary: Summary | null = null;
  for await (const event of eventsOf(context, run.runId)) summary = foldSummary(summary ?? emptySummary, event);
  const undriven = await howUndriven(context, run);
  const status = undriven === null ? ` ${run.status}` : "";
  const started = run.startedAt === unknownTime ? "" : `, started ${run.startedAt}`;
  out.line(`run ${run.runId}${status}${started}, ${run.record.repo_path}`);
  if (undriven !== null) out.line(undriven);
  const lines = summary === null ? recordLines(store, run.runId) : summaryLines(app, summary);
  for (const line of await lines) out.line(line);
  out.line("");
  out.line(`all of it: ${app.home.run(run.runId)}`);
  return 0;
}

type Run = Awaited<ReturnType<Store["run"]>>;

/** Of a run that is a workflow: its stages, as its events tell them. */
async function workflowOf(context: Context, store: Store, run: Run): Promise<WorkflowRecord | null> {
  const { runId, projectId, options } = run;
  if (options.workflow === undefined) return null;
  const history = new WorkflowHistory();
  for await (const event of eventsOf(context, runId)) history.add(event);
  const found = await store.findings({ projectId, issueId: runId, all: true });
  const findings = await toJson(found.sort(byExecution));
  return history.toRecord({ name: options.workflow.name, file: options.workflow.file, findings });
}

/** A run that was imported has its records and nothing else. */
async function recordLines(store: Store, runId: string): Promise<string[]> {
  const records = await store.issueRecords(runId);
  return records.map(({ issueId, record }) => `${issueId}: ${record.status}${record.message && `: ${record.message}`}`);
}

/** A file can be taken elsewhere: what it holds does not point to files here. */
async function withWholeTexts(issue: IssueRecord): Promise<IssueRecord> {
  const stored = issue.last_review_issues?.map(async ({ ref, also_reported: others = [], ...rest }) => {
    const body = { text: rest.body, ...(ref ? { ref } : {}) };
    const wholeOf = await readAllKept([body, ...others.map((one) => one.body)]);
    return { ...rest, body: sayWith(body, others, wholeOf) };
  });
  return stored === undefined ? issue : { ...issue, last_review_issues: await Promise.all(stored) };
}

const pageSize = 1000;

async function* eventsOf(context: Context, runId: string): AsyncGenerator<PublicEvent> {
  for await (const page of pagesOf(context, runId)) yield* page;
}

async function* pagesOf({ app }: Context, runId: string): AsyncGenerator<readonly PublicEvent[]> {
  const store = await app.store("reader");
  for (let seq = 0; ; ) {
    const page = await store.eventsAfter(runId, seq, pageSize);
    yield page;
    seq = page.at(-1)?.seq ?? seq;
    if (page.length < pageSize) return;
  }
}

/** What happened, then what happens, until the run ends or nobody reads any more. */
export async function followRun(context: Context, which: string, { json }: Json): Promise<number> {
  const { app, out } = context;
  const store = await app.store("reader");
  const run = await findRun(context, store, which);
  const { runId, status } = run;
  // A run that is over has no more to say; one that was imported never said anything here.
  const pages = status === "running" ? store.followEvents(runId, 0, out.gone) : pagesOf(context, runId);
  const ended = new AbortController();
  if (status === "running") {
    const signal = AbortSignal.any([ended.signal, out.gone]);
    void tellUndriven(context, run, signal).catch((error: unknown) => out.note(messageOf(error)));
  }
  try {
    for await (const page of pages) {
      for (const event of page) {
        if (out.gone.aborted) return 0;
        if (json) out.jsonLine(event);
        else for (const line of logLines(event)) out.line(line.text);
        // One that had ended and goes on has ended more than once.
        if (event.type === "run-finished" && (await store.run(runId)).record.completed_at === event.time) return 0;
      }
    }
    return 0;
  } finally {
    ended.abort();
  }
}
