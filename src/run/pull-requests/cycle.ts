import { reworkItemId } from "../../core/board/item-ids.js";
import type { PayloadComment, PullRequestFields, WorkPayload } from "../../core/board/payload.js";
import type { NamedWorkItem, ToldWith } from "../../core/ports/work-items.js";
import type { CycleEffect } from "../../core/pull-request/effects.js";
import type { PrEvent } from "../../core/pull-request/events.js";
import type { Settled } from "../../durable/types.js";
import { ExternalError } from "../../lib/errors.js";
import { fieldsOf } from "../perform/item.js";
import type { PrContext } from "./context.js";
import { type Part, readParts, withEarlier } from "./parts.js";

/** One item per cycle: its id says whether it is there. The review item that led to it is completed with it. */
export async function performCycle(context: PrContext, effect: CycleEffect): Promise<Settled<PrEvent>> {
  const { board, projectId, pr } = context;
  const item = await reworkItem(context, effect, await readParts(effect.look));
  const told: ToldWith[] = [
    {
      itemId: pr.issueId,
      event: {
        type: "work_rejected",
        pr_number: pr.number,
        rework_cycle: effect.cycle,
        reason: effect.feedback ?? "changes requested",
        rework_item_id: item.id,
      },
    },
  ];
  const before = effect.predecessor;
  const made =
    before === null
      ? await board.addOnce(item, told)
      : await board.succeed(projectId, before, {
          holder: null,
          note: "changes requested",
          commit: null,
          successor: item,
          told,
        });
  if (!made.ok) throw new ExternalError("board", made.reason);
  return { event: { type: "cycle-made", key: effect.key, item: made.id } };
}

async function reworkItem(
  context: PrContext,
  effect: CycleEffect,
  all: ReadonlyMap<string, Part>,
): Promise<NamedWorkItem> {
  const { projectId, pr } = context;
  const { cycle, source } = effect;
  const parts = effect.parts.flatMap((id) => all.get(id) ?? []);
  const fields = { ...(await fieldsFor(context)), max_rework_cycles: effect.maxCycles };
  const summary = [...(effect.feedback === null ? [] : [effect.feedback]), ...parts.flatMap(({ text }) => text ?? [])];
  const along = new Set(effect.parts);
  const comments = parts.flatMap((part) => withEarlier(part, [...all.values()], along) ?? []);
  const payload: WorkPayload =
    source === "merge_fix"
      ? { source, ...fields, rework_cycle: cycle }
      : {
          source,
          ...fields,
          rework_cycle: cycle,
          review_feedback: context.redact(summary.join("\n\n")),
          inline_comments: comments.map((one) => redacted(one, context.redact)),
        };
  return {
    projectId,
    id: reworkItemId({ projectId, prNumber: pr.number }, cycle),
    title: `Rework PR #${pr.number} (cycle ${cycle}): ${pr.title}`,
    body: pr.url,
    type: "task",
    parent: null,
    deps: [],
    priority: 1,
    source,
    createdAt: null,
    payload,
  };
}

function redacted(comment: PayloadComment, redact: PrContext["redact"]): PayloadComment {
  const { body, earlier } = comment;
  const before = earlier?.map((one) => ({ ...one, body: redact(one.body) }));
  return { ...comment, body: redact(body), ...(before ? { earlier: before } : {}) };
}

/** As the implementation has them, so that every item of the pull request says the same. */
export async function fieldsFor({ board, projectId, pr }: PrContext): Promise<PullRequestFields> {
  const issue = await board.get(projectId, pr.issueId);
  const { payload } = issue ?? {};
  if (payload?.pr_number === undefined)
    throw new ExternalError("board", `${pr.issueId} says nothing of its pull request`);
  // Complete, because the number is written together with the rest.
  return fieldsOf(payload as PullRequestFields);
}
