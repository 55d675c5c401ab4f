import type { Settings } from "../../core/settings.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { shellWord } from "../../lib/quoted.js";
import { parsePriority } from "../commands/work-add.js";
import type { Context } from "../context.js";
import { refuseForeign } from "../foreign-tracker.js";
import { prepare } from "./command.js";
import type { RunFlags } from "./request.js";
import { driveSeries } from "./series.js";

/** `ratchet do "text"`: one issue, whose title is the first line, and exactly its run. */
export async function doText(
  context: Context,
  text: string,
  flags: RunFlags & { readonly priority: string },
): Promise<number> {
  const [title = "", ...rest] = text.trim().split("\n");
  if (title === "") throw new UserError("there is nothing to do", { hint: 'ratchet do "Fix the typo in the README"' });
  const priority = parsePriority(flags.priority);
  const settings = await prepare(context, flags);
  await refuseForeign(context, "add");
  const project = await context.app.project();
  await checkPrograms(context, settings, project.repoPath);
  const { workItems } = await context.app.store();
  const added = await workItems.add({
    projectId: project.id,
    id: null,
    title: title.trim(),
    body: rest.join("\n").trim(),
    type: "task",
    parent: null,
    deps: [],
    priority,
    source: "implement",
    createdAt: null,
  });
  if (!added.ok) throw new Refusal(added.reason);
  if (!flags.json) context.out.line(`added ${added.id}`);
  const scope = { type: "ids", ids: [added.id] } as const;
  const options = { scope, resume: false, strict: false, fresh: false, maxIssues: settings.max_issues };
  try {
    return await driveSeries(context, { settings, options, json: flags.json === true });
  } catch (error) {
    // What stopped the run is told next; without this word the next try would be to add it again.
    context.out.note(`${added.id} waits: ratchet run ${shellWord(added.id)}`);
    throw error;
  }
}

/** A run that could not even start would leave the issue on the board, and the next try would add it again. */
async function checkPrograms({ app }: Context, settings: Settings, repoPath: string): Promise<void> {
  for (const { program } of await app.programs(settings)) {
    const missing = await program.check(repoPath);
    if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
  }
}
