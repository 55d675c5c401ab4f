import { plainLine, plainText } from "../core/plain-text.js";
import type { ReportBody } from "../core/report.js";
import { shellWord } from "./shell-word.js";

/** A human gate that is open, with what an answer has to know. */
type OpenGate = Omit<Extract<ReportBody, { readonly type: "question" }>, "type" | "visit" | "more">;

/** What to type, whichever option it is. */
export function answerCommand({ gate, options }: Pick<OpenGate, "gate" | "options">): string {
  return `ratchet answer ${shellWord(gate)} <${options.map(({ key }) => shellWord(key)).join("|")}>`;
}

/** How a workflow run that was ended goes on. */
export function resumeWorkflow(file: string, runId: string): string {
  return `ratchet workflow run ${shellWord(file)} --resume ${runId}`;
}

/** The last word of a run that was ended while it asked. */
export function keptGateLines(
  questions: readonly Pick<OpenGate, "gate" | "prompt" | "options">[],
  { runId, file }: { readonly runId: string; readonly file: string },
): string[] {
  if (questions.length === 0) return [];
  return [
    "not answered yet:",
    ...questions.flatMap((one) => openGateLines({ ...one, gate: `${runId}/${one.gate}` })),
    `go on with: ${resumeWorkflow(file, runId)}`,
  ];
}

/** A gate whose answer waits until somebody goes on with its workflow. */
export function answeredGateLine(answered: {
  readonly gate: string;
  readonly option: string;
  readonly resume: string;
}): string {
  return `${plainLine(answered.gate)}: answered with ${plainLine(answered.option)}; go on with: ${answered.resume}`;
}

/** One of several gates, in short: its name, what it asks and what to type. */
export function openGateLines(question: Pick<OpenGate, "gate" | "prompt" | "options">): string[] {
  const [first = "", ...rest] = plainText(question.prompt).trim().split("\n");
  return [`${plainLine(question.gate)}: ${first}${rest.length > 0 ? " …" : ""}`, `  ${answerCommand(question)}`];
}

/** `more`: how many characters of the details are not shown here. */
export function questionLines(question: OpenGate & { readonly more?: number }): string[] {
  const { stage, prompt, details, options, until, default: fallback, gate, more = 0 } = question;
  const choices = options.map(
    ({ key, label, feedback }) => `  ${plainLine(`${key}: ${label}`)}${feedback ? " (with --feedback)" : ""}`,
  );
  const late = fallback === null ? "then it fails" : `then ${plainLine(fallback)} is taken`;
  return [
    ...plainText(`${stage} asks: ${prompt}`).split("\n"),
    ...(details === null ? [] : plainText(details).split("\n")),
    ...(more > 0 ? [`… ${more} more characters, shown by: ratchet answer ${shellWord(gate)}`] : []),
    ...choices,
    `answer with: ${answerCommand(question)}${options.some(({ feedback }) => feedback) ? " [--feedback TEXT]" : ""}`,
    ...(until === null ? [] : [`until ${new Date(until).toISOString()}, ${late}`]),
  ];
}
