import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { folderName } from "../../core/folder-name.js";
import { gateName } from "../../core/gate-names.js";
import { messageOf } from "../../lib/errors.js";
import { namesIn, readJson, writeDurably } from "../../lib/files.js";
import type { Home } from "../../lib/home.js";
import type { HumanStage } from "../../workflow/graph.js";
import type { Token } from "../../workflow/machine/state.js";
import { type Question, resumedMachineId, type WorkflowContext } from "./context.js";
import { expandText, textOfValue } from "./expansion.js";

/**
 * The human gates of a workflow that are open. Each is a file beside the run, so that any process can answer it, and is
 * asked of whoever sits in front of this one. The machine decides: an answer is a signal like any other.
 */
export class Questions {
  readonly #context: WorkflowContext;
  readonly #open = new Map<string, { readonly asking: AbortController; readonly done: Promise<void> }>();
  #keeping: Promise<void> = Promise.resolve();

  constructor(context: WorkflowContext) {
    this.#context = context;
  }

  /** After each step: what is asked now, and what no longer. */
  look(): void {
    const { tokens, halt } = this.#context.life().state;
    const asked = tokens.filter(({ phase }) => phase === "asking");
    for (const token of asked) {
      const name = nameOf(token);
      if (this.#open.has(name)) continue;
      const asking = new AbortController();
      this.#open.set(name, { asking, done: this.#ask(token, asking.signal) });
    }
    const names = new Set(asked.map(nameOf));
    for (const [name, { asking }] of this.#open) {
      if (names.has(name)) continue;
      this.#open.delete(name);
      asking.abort();
      rmSync(this.#file(name), { force: true });
      const unanswered = halt === null ? undefined : tokens.find((token) => nameOf(token) === name);
      if (unanswered !== undefined) this.#keeping = this.#keeping.then(() => this.#keep(unanswered));
    }
  }

  /** The questions stay: only this process asks them no longer. */
  async close(): Promise<void> {
    for (const { asking } of this.#open.values()) asking.abort();
    await Promise.all([...this.#open.values()].map(({ done }) => done));
    await this.#keeping;
  }

  /** The workflow is ended while it asks: it can be answered all the same, for when it is resumed. */
  async #keep(token: Token): Promise<void> {
    const { machine, graph } = this.#context;
    // An issue goes on in a machine that is not known yet: it takes over what this one was told.
    const next = resumedMachineId(machine.id) ?? machine.id;
    const stage = graph.stages.find(({ id }) => id === token.stage);
    if (stage?.kind !== "human") return;
    try {
      const question: Question = { ...(await questionOf(this.#context, token, stage)), machine: next, kept: true };
      await writeDurably(this.#file(nameOf(token), next), JSON.stringify(question));
    } catch (error) {
      // The resume asks in any case.
      process.emitWarning(`${stage.id} can be answered only after a resume: ${messageOf(error)}`);
    }
  }

  async #ask(token: Token, signal: AbortSignal): Promise<void> {
    const { run, machine, graph } = this.#context;
    const stage = graph.stages.find(({ id }) => id === token.stage);
    if (stage?.kind !== "human") return;
    try {
      const question = await questionOf(this.#context, token, stage);
      mkdirSync(questionsFolder(run.home, run.runId), { recursive: true, mode: 0o700 });
      await writeDurably(this.#file(nameOf(token)), JSON.stringify(question));
      if (signal.aborted) return rmSync(this.#file(nameOf(token)), { force: true });
      const answer = await run.ask(question, signal);
      if (answer === null || signal.aborted) return;
      await run.inbox.send(machine.id, { name: "answer", stage: stage.id, visit: token.visit, ...answer });
    } catch (error) {
      if (signal.aborted) return;
      // The gate stays open: whoever answers it from elsewhere is heard.
      process.emitWarning(`${stage.id} could not be asked: ${messageOf(error)}`);
    }
  }

  #file(name: string, machine = this.#context.machine.id): string {
    const { run } = this.#context;
    return join(questionsFolder(run.home, run.runId), `${folderName(`${machine}.${name}`)}.json`);
  }
}

function nameOf({ stage, visit }: Token): string {
  return `${stage}.${visit}`;
}

function questionsFolder(home: Home, runId: string): string {
  return join(home.run(runId), "_questions");
}

async function questionOf(context: WorkflowContext, token: Token, stage: HumanStage): Promise<Question> {
  const { machine, graph, run, calls } = context;
  const issueId = context.issueId === "" ? null : context.issueId;
  const about = stage.detailsFrom === null ? undefined : await textOfValue(context, stage.detailsFrom, token.id);
  const needed = new Set(stage.requireFeedbackOn.map(({ name }) => name));
  return {
    machine: machine.id,
    stage: stage.id,
    visit: token.visit,
    workflow: graph.name,
    issueId,
    calls,
    gate: gateName({ issueId, calls, stage: stage.id }),
    prompt: run.redact(await expandText(context, stage.prompt, token.id)),
    details: about === undefined ? null : run.redact(about),
    options: stage.options.map(({ key, label }) => ({ key, label, feedback: needed.has(key) })),
    default: stage.default?.name ?? null,
    until: token.run?.until ?? null,
  };
}

/** What a run asks now, as its files tell it. */
export async function readQuestions(home: Home, runId: string): Promise<Question[]> {
  const folder = questionsFolder(home, runId);
  const questions = new Map<string, Question>();
  const names = namesIn(folder).filter((name) => name.endsWith(".json"));
  for (const name of names.sort()) {
    const read = await readJson(join(folder, name));
    if (typeof read !== "object" || read === null) continue;
    // Written by us, whole or not at all; by another version perhaps under another name.
    const question = read as Question;
    questions.set(JSON.stringify([question.machine, question.stage, question.visit]), question);
  }
  return [...questions.values()];
}
