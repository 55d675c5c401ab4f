import { userInfo } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { Question, Store } from "../../app.js";
import { gateAnswerOf } from "../../core/gate-answer.js";
import { exactGateName, gatesMeant } from "../../core/gate-names.js";
import { optionMeant } from "../../core/gate-option.js";
import { toIsoTime } from "../../lib/clock.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { answeredGateLine, openGateLines, questionLines, resumeWorkflow } from "../../views/question-lines.js";
import { shellWord } from "../../views/shell-word.js";
import { type Context, findRoot } from "../context.js";
import { typed } from "../typed.js";

interface Given {
  readonly gate: string;
  readonly option: string;
  readonly feedback?: string;
}
interface Look {
  readonly json?: boolean;
  readonly feedback?: string;
}
type Asked = Awaited<ReturnType<Context["app"]["questions"]>>[number];

/** Without a gate: those that are open, each with the name to give. */
export async function listGates({ app, cwd, out }: Context, { json, feedback }: Look): Promise<number> {
  refuseFeedback(feedback);
  const asked = await app.questions();
  const open = asked.filter(isOpen);
  if (json) {
    out.json(open.map(toQuestionJson));
    return 0;
  }
  if (open.length === 0) out.line(`No gate is open in ${findRoot(cwd) ?? cwd}.`);
  for (const line of open.flatMap((one) => openGateLines(named(open, one)))) out.line(line);
  const store = await app.store();
  for (const one of asked) {
    if (one.answered === null) continue;
    const resume = await howToResume(store, one.runId, one.question);
    out.line(answeredGateLine({ gate: exactGateName(one), option: one.answered, resume }));
  }
  return 0;
}

function isOpen({ answered }: Asked): boolean {
  return answered === null;
}

function refuseFeedback(feedback: string | undefined): void {
  if (feedback !== undefined) throw new UserError("--feedback goes with an option", { hint: "name the option first" });
}

/** By the shortest name that means no other. */
function named(asked: readonly Asked[], one: Asked): Question {
  const isAlone = gatesMeant(asked, one.question.gate).length === 1;
  return isAlone ? one.question : { ...one.question, gate: exactGateName(one) };
}

/** Without an option: all of what is asked, and nothing is answered. */
export async function showGate(
  { app, cwd, out }: Context,
  { gate, json, feedback }: Look & { readonly gate: string },
): Promise<number> {
  refuseFeedback(feedback);
  const found = await findGate({ app, cwd }, gate);
  if (json) out.json(toQuestionJson(found));
  else for (const line of questionLines(found.question)) out.line(line);
  return 0;
}

function toQuestionJson({ runId, question }: Pick<Asked, "runId" | "question">) {
  return { run_id: runId, ...question, until: toIsoTime(question.until) };
}

/** The answer is recorded, whoever drives the workflow; nobody does: it is there when somebody goes on with it. */
export async function answerGate(
  { app, cwd, out }: Context,
  given: Given & { readonly json?: boolean },
): Promise<number> {
  const recorded = await recordAnswer({ app, cwd }, given);
  if (given.json) out.json(recorded);
  else out.line(`${recorded.stage} of run ${recorded.run_id}: ${recorded.option}`);
  if (!given.json && recorded.resume !== undefined) out.line(`go on with: ${recorded.resume}`);
  return 0;
}

/** Refused where nobody asks, or not for that. */
export async function recordAnswer({ app, cwd }: Pick<Context, "app" | "cwd">, given: Given) {
  const { runId, question, answered } = await findGate({ app, cwd }, given.gate);
  const option = checkedOption(question, given);
  refuseSecond(question, answered);
  refuseLate(question);
  const { feedback = null } = given;
  await app.answer(question, { option, feedback, by: userInfo().username });
  if (question.kept && question.issueId !== null) await refuseUnheard(app, { runId, question });
  const resume = question.kept ? { resume: await howToResume(await app.store(), runId, question) } : {};
  return { run_id: runId, stage: question.stage, option, feedback, ...resume };
}

/** The issue may have gone on in this very moment: then nobody reads what its last life is told. */
async function refuseUnheard(app: Context["app"], { runId, question }: Omit<Asked, "answered">): Promise<void> {
  const { machine, stage, visit } = question;
  const isSame = (one: Asked) => one.question.machine === machine && one.question.stage === stage;
  if ((await app.questions(runId)).some((one) => isSame(one) && one.question.visit === visit)) return;
  const store = await app.store();
  const unheard = (await store.signals(machine)).filter(({ body }) => gateAnswerOf(body)?.stage === stage);
  if (unheard.length === 0) return;
  for (const { id } of unheard) await store.dropSignal(machine, id);
  throw new Refusal(`${stage} is asked anew: ${question.issueId} has gone on meanwhile`, {
    code: "gone-on",
    hint: "ratchet answer lists what is asked now",
  });
}

/** A run of issues that was not ended goes on by itself. */
async function howToResume(store: Store, runId: string, { issueId, kept }: Question): Promise<string> {
  const file = (await store.run(runId)).options.workflow?.file;
  if (file !== undefined) return resumeWorkflow(file, runId);
  return kept ? `ratchet run --resume ${shellWord(issueId ?? "")}` : "ratchet run";
}

/** While nobody drives the workflow an answer waits: the first one stands. */
function refuseSecond({ stage }: Question, answered: string | null): void {
  if (answered === null) return;
  throw new Refusal(`${stage} has been answered already: ${answered}`, {
    code: "answered",
    hint: "the answer waits until the workflow goes on: ratchet status says whether anybody drives it",
  });
}

/** A gate that has only just been reached is told a moment later: a short while is waited for it. */
const patienceMs = 1500;

async function findGate({ app, cwd }: Pick<Context, "app" | "cwd">, gate: string): Promise<Asked> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const asked = await app.questions();
    const open = asked.filter(isOpen);
    const meant = gatesMeant(open, gate);
    const found = meant.length > 0 ? meant : gatesMeant(asked, gate);
    const [first] = found;
    if (found.length > 1) {
      const names = found.map(exactGateName);
      throw new Refusal(`${gate} is asked by ${names.join(" and ")}`, {
        code: "ambiguous",
        hint: `say which: ${names[0]}`,
      });
    }
    if (first !== undefined) return first;
    if (Date.now() > until) {
      const others = open.length === 0 ? "none is open there" : `open are ${open.map(exactGateName).join(", ")}`;
      const hint = `only the runs of this repository are looked at (${findRoot(cwd) ?? cwd}): ${others}`;
      throw new Refusal(`nobody asks for ${typed(gate)}`, { code: "not-found", hint });
    }
    await wait(50);
  }
}

function refuseLate({ stage, until, default: fallback }: Question): void {
  if (until === null || until > Date.now()) return;
  const next = fallback === null ? "it fails" : `${fallback} is taken`;
  const hint = `nobody drives the workflow: when it goes on, ${next}`;
  throw new Refusal(`${stage} was to be answered until ${new Date(until).toISOString()}`, { code: "too-late", hint });
}

/** The key of what was chosen. */
function checkedOption({ stage, options }: Question, { option, feedback }: Given): string {
  const chosen = optionMeant(options, option);
  if (chosen === null) {
    const known = options.map(({ key, label }) => `${key} (${label})`).join(", ");
    throw new UserError(`${stage} has no option ${option}`, { code: "unknown-option", hint: `it has ${known}` });
  }
  if (chosen.feedback && (feedback ?? "").trim() === "") {
    throw new UserError(`${chosen.key} needs feedback`, { code: "feedback-missing", hint: "add --feedback TEXT" });
  }
  return chosen.key;
}
