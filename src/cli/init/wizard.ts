import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { Context } from "../context.js";
import type { Answers, Found } from "./answers.js";
import type { Given } from "./flags.js";
import { askAll, cancelled } from "./question.js";
import { questions } from "./questions.js";
import { shortPath } from "./short-path.js";
import { intro, note, outro, terminalAsker } from "./terminal.js";
import { writeWithBackup } from "./write.js";

export interface Wizard {
  readonly file: string;
  readonly found: Found;
  readonly given: Given;
  readonly toText: (answers: Answers) => string;
}

/** Asks, shows what would be written, and writes it only after a yes. */
export async function runWizard({ cwd, out }: Context, { file, found, given, toText }: Wizard): Promise<number> {
  intro("ratchet init");
  const { answers, topics } = given;
  const answered = await askAll(questions, terminalAsker, { found, answers, given: topics });
  if (answered === cancelled) return stopped("Nothing is written.");
  const text = toText(answered);
  const place = shortPath(cwd, file);
  note(out.redact(text.trimEnd()), place, { format: (line) => line });
  const isThere = existsSync(file);
  const message = isThere ? `Write it? The ${place} that is there is kept as a backup.` : "Write it?";
  const yes = await terminalAsker.confirm({ message, initial: true });
  if (yes === cancelled) return stopped("Nothing is written.");
  if (!yes) {
    outro("Nothing is written.");
    return 1;
  }
  const backup = await writeWithBackup(file, text);
  const kept = backup === null ? "" : ` The earlier one is ${basename(backup)}.`;
  outro(`${place} is written.${kept} Next: ratchet doctor, then ratchet work add "what to do" and ratchet run.`);
  return 0;
}

function stopped(words: string): number {
  outro(words);
  return 130;
}
