import { isCancel, log, note, text } from "@clack/prompts";
import type { Answer, Question } from "../../app.js";
import { optionMeant } from "../../core/gate-option.js";
import { plainLine, plainText } from "../../core/plain-text.js";
import { answerCommand } from "../../views/question-lines.js";
import { whileInputIsOpen } from "../open-input.js";

/**
 * null: answered elsewhere meanwhile, or not by whoever sits here. Ctrl-C is a Ctrl-C; after Ctrl-D
 * the gate stays open and waits for an answer from elsewhere.
 */
export async function askInTerminal(question: Question, signal: AbortSignal): Promise<Answer | null> {
  if (question.details !== null) note(plainText(question.details), question.stage);
  const option = await askOption(question, signal);
  if (typeof option === "string") return leave(question, option);
  const feedback = await askFeedback(option.feedback, signal);
  if (typeof feedback === "string") return leave(question, feedback);
  return { option: option.key, feedback: feedback.text === "" ? null : feedback.text, by: "terminal" };
}

type Option = Question["options"][number];

async function askOption({ prompt, options }: Question, signal: AbortSignal): Promise<Option | Unanswered> {
  const words = options.map(({ key }) => plainLine(key)).join(" or ");
  const choices = options.map(
    ({ key, label, feedback }) => `${plainLine(`${key}: ${label}`)}${feedback ? " (needs feedback)" : ""}`,
  );
  // Nothing is chosen already: neither a stray Enter nor a slip of the finger decides.
  for (let message = [plainText(prompt), ...choices].join("\n"); ; message = `type ${words}`) {
    const typed = await readLine(signal, { message, placeholder: words });
    if (typeof typed === "string") return typed;
    const option = optionMeant(options, typed.text);
    if (option !== null) return option;
    log.warn(typed.text.trim() === "" ? "nothing was typed" : `there is no option ${plainLine(typed.text)}`);
  }
}

async function askFeedback(isNeeded: boolean, signal: AbortSignal): Promise<Line | Unanswered> {
  const message = isNeeded ? "What should be different?" : "Anything to add? (Enter: no)";
  for (;;) {
    const typed = await readLine(signal, { message });
    if (typeof typed === "string") return typed;
    const feedback = typed.text.trim() === "" ? "" : typed.text;
    if (feedback !== "" || !isNeeded) return { text: feedback };
    log.warn("this option needs feedback");
  }
}

interface Line {
  readonly text: string;
}
type Unanswered = "elsewhere" | "cancelled" | "closed";

/** One line, in a field that is empty at first. */
async function readLine(signal: AbortSignal, options: Parameters<typeof text>[0]): Promise<Line | Unanswered> {
  const { answer, isClosed } = await whileInputIsOpen((open) => text({ ...options, signal: open }), signal);
  if (!isCancel(answer)) return { text: answer };
  if (signal.aborted) return "elsewhere";
  return isClosed ? "closed" : "cancelled";
}

function leave(question: Question, why: Unanswered): null {
  // The terminal takes Ctrl-C for itself while it asks.
  if (why === "cancelled") process.kill(process.pid, "SIGINT");
  if (why === "closed") {
    const stage = plainLine(question.stage);
    log.info(`${stage} stays open, and the run waits for it. Answer it later with: ${answerCommand(question)}`);
  }
  return null;
}
