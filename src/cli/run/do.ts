import { Refusal, UserError } from "../../lib/errors.js";
import { parsePriority } from "../commands/work-add.js";
import type { Context } from "../context.js";
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
  const project = await context.app.project();
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
  return await driveSeries(context, { settings, options, json: flags.json === true });
}
