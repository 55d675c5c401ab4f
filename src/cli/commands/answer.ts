import { userInfo } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import type { Question } from "../../app.js";
import { Refusal, UserError } from "../../lib/errors.js";
import type { Context } from "../context.js";

interface Given {
  readonly gate: string;
  readonly option: string;
  readonly feedback?: string;
}
type Asked = Awaited<ReturnType<Context["app"]["questions"]>>[number];

/** The answer is recorded, whoever drives the workflow; nobody does: it is there when somebody goes on with it. */
export async function answerGate({ app, out }: Context, given: Given & { readonly json?: boolean }): Promise<number> {
  const recorded = await recordAnswer({ app }, given);
  if (given.json) out.json(recorded);
  else out.line(`${recorded.stage} of run ${recorded.run_id}: ${recorded.option}`);
  return 0;
}

/** Refused where nobody asks, or not for that. */
export async function recordAnswer({ app }: Pick<Context, "app">, given: Given) {
  const { runId, question } = await findGate({ app }, given.gate);
  checkAnswer(question, given);
  const { option, feedback = null } = given;
  await app.answer(question, { option, feedback, by: userInfo().username });
  return { run_id: runId, stage: question.stage, option, feedback };
}

/** A gate that has only just been reached is told a moment later: a short while is waited for it. */
const patienceMs = 1500;

async function findGate({ app }: Pick<Context, "app">, gate: string): Promise<Asked> {
  const until = Date.now() + patienceMs;
  for (;;) {
    const asked = await app.questions();
    const found = asked.filter((one) => isMeant(one, gate));
    const [first] = found;
    if (found.length > 1) {
      const names = found.map(({ runId, question }) => `${runId}/${question.stage}`);
      throw new Refusal(`${gate} is asked by ${names.join(" and ")}`, {
        code: "ambiguous",
        hint: `say which: ${names[0]}`,
      });
    }
    if (first !== undefined) return first;
    if (Date.now() > until) {
      const open = asked.map(({ runId, question }) => `${runId}/${question.stage}`).join(", ");
      const hint = open === "" ? "no human gate is open here" : `open are ${open}`;
      throw new Refusal(`nobody asks for ${gate}`, { code: "not-found", hint });
    }
    await wait(50);
  }
}

function isMeant({ runId, question }: Asked, gate: string): boolean {
  if (gate === question.stage) return true;
  const cut = gate.lastIndexOf("/");
  return cut > 0 && gate.slice(cut + 1) === question.stage && runId.startsWith(gate.slice(0, cut));
}

function checkAnswer({ stage, options }: Question, { option, feedback }: Given): void {
  const chosen = options.find(({ key }) => key === option);
  if (chosen === undefined) {
    const known = options.map(({ key, label }) => `${key} (${label})`).join(", ");
    throw new UserError(`${stage} has no option ${option}`, { code: "unknown-option", hint: `it has ${known}` });
  }
  if (chosen.feedback && (feedback ?? "").trim() === "") {
    throw new UserError(`${option} needs feedback`, { code: "feedback-missing", hint: "add --feedback TEXT" });
  }
}
