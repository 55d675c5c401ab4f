import { isCancel, log, note, text } from "@clack/prompts";
import type { Answer, Question } from "../../app.js";
import { optionMeant } from "../../core/gate-option.js";
import { plainLine, plainText } from "../../core/plain-text.js";
import { answerCommand } from "../../views/question-lines.js";

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
  // A prompt that was answered still listens: what is aborted later would take the terminal from the one that is shown then.
  const open = new AbortController();
  const close = () => open.abort();
  let isClosed = false;
  const onKey = (_typed: unknown, key: { readonly name?: string; readonly ctrl?: boolean } | undefined) => {
    // Ctrl-D in an empty field closes the input, and the prompt would wait for ever.
    if (key?.ctrl !== true || key.name !== "d" || !process.stdin.isPaused()) return;
    isClosed = true;
    close();
  };
  if (signal.aborted) close();
  signal.addEventListener("abort", close);
  const typing = text({ ...options, signal: open.signal });
  // After the prompt's own: it has seen the key by then.
  process.stdin.on("keypress", onKey);
  try {
    const typed = await typing;
    if (!isCancel(typed)) return { text: typed };
    if (signal.aborted) return "elsewhere";
    return isClosed ? "closed" : "cancelled";
  } finally {
    process.stdin.off("keypress", onKey);
    signal.removeEventListener("abort", close);
  }
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
