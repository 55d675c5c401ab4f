import { isCancel, note, text } from "@clack/prompts";
import type { Answer, Question } from "../../app.js";
import { plainLine, plainText } from "../../views/plain-text.js";

/** null: answered elsewhere meanwhile, or the person does not want to answer; then it is cancelled as by Ctrl-C. */
export async function askInTerminal(question: Question, signal: AbortSignal): Promise<Answer | null> {
  // A terminal that does not tell its size would have every character on a line of its own.
  if (process.stdout.columns === 0) Object.assign(process.stdout, { columns: 80, rows: 24 });
  if (question.details !== null) note(plainText(question.details), question.stage);
  const keys = question.options.map(({ key }) => key);
  const words = keys.map(plainLine).join(" or ");
  const choices = question.options.map(({ key, label }) => plainLine(`${key}: ${label}`));
  const typed = await untilAnswered(signal, {
    message: [plainText(question.prompt), ...choices].join("\n"),
    placeholder: words,
    // Nothing is chosen already: neither a stray Enter nor a slip of the finger decides.
    validate: (value) => (keyMeant(keys, value ?? "") === null ? `type ${words}` : undefined),
  });
  if (isCancel(typed)) return given(signal);
  const option = keyMeant(keys, typed);
  if (option === null) return null;
  const required = question.options.some(({ key, feedback }) => key === option && feedback);
  const feedback = await untilAnswered(signal, {
    message: required ? "What should be different?" : "Anything to add? (Enter: no)",
    defaultValue: "",
    validate: (value) => (required && (value ?? "").trim() === "" ? "this option needs a word" : undefined),
  });
  if (isCancel(feedback)) return given(signal);
  return { option, feedback: feedback.trim() === "" ? null : feedback, by: "terminal" };
}

/** A prompt that was answered still listens: what is aborted later would take the terminal from the one that is shown then. */
async function untilAnswered(signal: AbortSignal, options: Parameters<typeof text>[0]): ReturnType<typeof text> {
  const open = new AbortController();
  const close = () => open.abort();
  if (signal.aborted) close();
  signal.addEventListener("abort", close);
  try {
    return await text({ ...options, signal: open.signal });
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** In small letters too, where that is no other option. */
function keyMeant(keys: readonly string[], typed: string): string | null {
  const word = typed.trim();
  const alike = keys.filter((key) => key.toLowerCase() === word.toLowerCase());
  return keys.find((key) => key === word) ?? (alike.length === 1 ? (alike[0] ?? null) : null);
}

/** The terminal takes Ctrl-C for itself while it asks. */
function given(signal: AbortSignal): null {
  if (!signal.aborted) process.kill(process.pid, "SIGINT");
  return null;
}
