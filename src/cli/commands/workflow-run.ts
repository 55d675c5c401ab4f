import type { Answer, App, LoadedWorkflow, Question } from "../../app.js";
import { UserError } from "../../lib/errors.js";
import { keptGateLines } from "../../views/question-lines.js";
import { planOf } from "../../views/workflow/plan.js";
import { findRun } from "../board-scope.js";
import type { Context } from "../context.js";
import { interruptedEarly, whileGuardsAreTested } from "../guard-asker.js";
import { inTurn } from "../in-turn.js";
import { followToEnd, readEvents } from "../run/drive.js";
import { openRunLog } from "../run/run-log.js";
import { diagnosticLine, findWorkflow, hasErrors } from "./workflow-load.js";
import { stagePresenter } from "./workflow-presenter.js";

type Started = Awaited<ReturnType<App["openWorkflow"]>>;

/** As commander hands them over. */
export interface WorkflowRunFlags {
  readonly json?: boolean;
  readonly goal?: string;
  /** true: the last run of that file. */
  readonly resume?: string | true;
  readonly approveAll?: boolean;
  readonly dryRun?: boolean;
}

/** `ratchet workflow run`: 0 success, 1 fail, 2 invalid, 130 cancelled. */
export async function runWorkflow(context: Context, what: string, flags: WorkflowRunFlags): Promise<number> {
  const file = await findWorkflow(context, what, "usage");
  const loaded = await (await context.app.workflows()).load(file);
  const graph = checkedGraph(context, loaded);
  const runId = await runToResume(context, loaded, flags);
  if (flags.dryRun) return await printPlan(context, { loaded, graph, json: flags.json === true });
  const store = await context.app.store();
  if (runId !== null && (await store.run(runId)).status === "succeeded") {
    context.out.note(`run ${runId} has succeeded: there is nothing to resume`);
    return 0;
  }
  const past = runId === null ? [] : await readEvents(store, runId, 0);
  const presenter = stagePresenter(context.out, flags.json === true);
  const stops = listenForStops(presenter.say);
  const request = { source: loaded.source, graph, goal: flags.goal ?? null, runId, ask: askerFor(context, flags) };
  const started = await openUnlessStopped(context, request, stops);
  if (started === null) return 130;
  const log = openRunLog(context, started.runId);
  log.add(past);
  try {
    const code = await followToEnd(store, started, { presenter, log, shown: past.at(-1)?.seq ?? 0, everyMs: 0 });
    if (code !== 0)
      await tellKeptGates(context, { runId: started.runId, file: loaded.file, json: flags.json === true });
    return code;
  } finally {
    stops.close();
    log.close();
    await presenter.end();
  }
}

interface Ended {
  readonly runId: string;
  readonly file: string;
  readonly json: boolean;
}

/** What was asked when the run was ended, and how to answer it or go on. */
async function tellKeptGates({ app, out }: Context, { runId, file, json }: Ended): Promise<void> {
  const kept = (await app.questions(runId)).flatMap(({ question, answered }) =>
    question.kept && answered === null ? [question] : [],
  );
  for (const line of keptGateLines(kept, { runId, file }))
    if (json) out.note(line);
    else out.line(line);
}

type Graph = NonNullable<LoadedWorkflow["graph"]>;

/** Everything that is wrong, before anything starts. */
function checkedGraph(context: Context, loaded: LoadedWorkflow): Graph {
  const lines = loaded.diagnostics.map((one) => diagnosticLine(context, loaded.file, one));
  if (loaded.graph === null || hasErrors(loaded)) {
    throw new UserError(`${loaded.file} cannot be run\n${lines.join("\n")}`, { code: "workflow-invalid" });
  }
  for (const line of lines) context.out.note(line);
  return loaded.graph;
}

async function runToResume(
  context: Context,
  { file }: LoadedWorkflow,
  flags: WorkflowRunFlags,
): Promise<string | null> {
  if (flags.resume === undefined) return null;
  if (flags.resume === true) return await context.app.lastWorkflowRun(file);
  const run = await findRun(context, await context.app.store(), flags.resume);
  if (run.options.workflow !== undefined) return run.runId;
  throw new UserError(`run ${run.runId} is no run of a workflow`, { hint: "ratchet run --resume" });
}

/** What it may come to; the programs of its stages are looked for. */
async function printPlan({ app, out }: Context, { loaded, graph, json }: Planned): Promise<number> {
  const stages = planOf(graph);
  if (!json) for (const { id, kind } of stages) out.line(`${id} (${kind})`);
  await app.checkWorkflow(loaded.source);
  if (json) out.json({ workflow: graph.name, file: loaded.file, stages });
  return 0;
}

interface Planned {
  readonly loaded: LoadedWorkflow;
  readonly graph: Graph;
  readonly json: boolean;
}

type Ask = (question: Question, signal: AbortSignal) => Promise<Answer | null>;

/**
 * `--approve-all` takes the first option that needs no feedback: by convention the one that lets the work go on. Where
 * each needs some, a person is asked: nobody has a word to say for them.
 */
function askerFor(context: Context, flags: WorkflowRunFlags): Ask {
  const { out } = context;
  if (flags.approveAll) {
    const ask = askerFor(context, { ...flags, approveAll: false });
    return async (question, signal) => {
      const open = question.options.find(({ feedback }) => !feedback);
      if (open !== undefined) return { option: open.key, feedback: null, by: "--approve-all" };
      out.note(`${question.stage}: every option needs feedback, which --approve-all does not give`);
      return await ask(question, signal);
    };
  }
  const isPerson = out.isTerminal && process.stdin.isTTY === true && flags.json !== true;
  if (isPerson)
    return inTurn(async (question: Question, signal) =>
      (await import("./workflow-ask.js")).askInTerminal(question, signal),
    );
  return async (question) => {
    const { questionLines } = await import("../../views/question-lines.js");
    for (const line of questionLines(question))
      if (flags.json) out.note(line);
      else out.line(line);
    return null;
  };
}

/** null: somebody ended it before it had begun. */
async function openUnlessStopped(
  context: Context,
  request: Parameters<App["openWorkflow"]>[0],
  stops: Stops,
): Promise<Started | null> {
  try {
    const started = await whileGuardsAreTested(context, stops.signal, (asker) =>
      context.app.openWorkflow({ ...request, asker }),
    );
    stops.attach(started);
    return started;
  } catch (error) {
    stops.close();
    if (!stops.signal.aborted || error !== stops.signal.reason) throw error;
    context.out.note(interruptedEarly);
    return null;
  }
}

interface Stops {
  /** Aborted with the first. */
  readonly signal: AbortSignal;
  /** The run that is stopped, also by what came before. */
  attach(run: Started): void;
  close(): void;
}

/** Ctrl-C once: what runs is stopped and the run can be resumed. Twice: it is left as a crash would leave it. */
function listenForStops(say: (text: string) => void): Stops {
  const first = new AbortController();
  let run: Started | null = null;
  const cancel = (started: Started) => {
    say("stopping; press again to kill");
    started.cancel().catch((error: unknown) => say(`the signal could not be recorded: ${error}`));
  };
  const stop = () => {
    if (first.signal.aborted) {
      run?.kill();
      process.exit(130);
    }
    first.abort(new Error("interrupted"));
    if (run !== null) cancel(run);
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: first.signal,
    attach: (started) => {
      run = started;
      if (first.signal.aborted) cancel(started);
    },
    close: () => {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
