import { isCancel, note, select, text } from "@clack/prompts";
import type { Answer, Question } from "../../app.js";
import { plainText } from "../../views/plain-text.js";

/** The question for whoever reads along and answers from elsewhere. */
export function questionLines({ stage, prompt, details, options, until, default: fallback }: Question): string[] {
  const choices = options.map(
    ({ key, label, feedback }) => `  ${key}: ${label}${feedback ? " (with --feedback)" : ""}`,
  );
  const late = fallback === null ? "then it fails" : `then ${fallback} is taken`;
  return [
    `${stage} asks: ${plainText(prompt)}`,
    ...(details === null ? [] : [plainText(details)]),
    ...choices,
    `answer with: ratchet answer ${stage} <option>`,
    ...(until === null ? [] : [`until ${new Date(until).toISOString()}, ${late}`]),
  ];
}

/** null: answered elsewhere meanwhile, or the person does not want to answer; then it is cancelled as by Ctrl-C. */
export async function askInTerminal(question: Question, signal: AbortSignal): Promise<Answer | null> {
  // A terminal that does not tell its size would have every character on a line of its own.
  if (process.stdout.columns === 0) Object.assign(process.stdout, { columns: 80, rows: 24 });
  if (question.details !== null) note(plainText(question.details), question.stage);
  const options = question.options.map(({ key, label }) => ({ value: key, label }));
  const option = await select({ message: plainText(question.prompt), options, signal });
  if (isCancel(option)) return given(signal);
  const required = question.options.some(({ key, feedback }) => key === option && feedback);
  const feedback = await text({
    message: required ? "What should be different?" : "Anything to add? (Enter: no)",
    defaultValue: "",
    signal,
    validate: (value) => (required && (value ?? "").trim() === "" ? "this option needs a word" : undefined),
  });
  if (isCancel(feedback)) return given(signal);
  return { option, feedback: feedback.trim() === "" ? null : feedback, by: "terminal" };
}

/** The terminal takes Ctrl-C for itself while it asks. */
function given(signal: AbortSignal): null {
  if (!signal.aborted) process.kill(process.pid, "SIGINT");
  return null;
}
