import type { Tracker } from "../../core/ports/tracker.js";
import type { RunOptions } from "../../core/run/effects.js";
import type { Settings } from "../../core/settings.js";
import { shellWord } from "../../views/shell-word.js";
import type { Context } from "../context.js";

const everything = 100_000;

/**
 * An answer that was given after its run had been stopped belongs to the workflow as it stood then. A run without a resume
 * begins the issue anew and asks again: whoever answered is told so before it does.
 */
export async function tellUnheard(
  { app, out }: Context,
  options: RunOptions,
  { settings, tracker }: { readonly settings: Settings; readonly tracker: Tracker },
): Promise<void> {
  const { scope, resume } = options;
  if (resume || settings.agent.workflow === null) return;
  const answered = (await app.questions()).filter((one) => one.answered !== null && one.question.kept);
  if (answered.length === 0) return;
  const ready = new Set((await tracker.ready({ scope, resume, limit: everything })).map(({ id }) => id));
  for (const { question, answered: option } of answered) {
    const { issueId, stage } = question;
    if (issueId === null || !ready.has(issueId)) continue;
    const how = `ratchet run --resume ${shellWord(issueId)}`;
    out.note(
      `${issueId} begins anew: ${stage}, which was answered with ${option}, is asked again; ${how} takes the answer`,
    );
  }
}
