import { reworkItemId } from "../../core/board/item-ids.js";
import type { PayloadComment, PullRequestFields, WorkPayload } from "../../core/board/payload.js";
import type { NamedWorkItem, ToldWith } from "../../core/ports/work-items.js";
import type { CycleEffect, JoinEffect } from "../../core/pull-request/effects.js";
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
  const { reason = "changes requested" } = effect;
  const told: ToldWith[] = [
    {
      itemId: pr.issueId,
      event: {
        type: "work_rejected",
        pr_number: pr.number,
        rework_cycle: effect.cycle,
        reason: context.redact(effect.feedback ?? reason),
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
          note: reason,
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
  const { feedback, comments } = wordsOf(context, effect, { all, along: new Set(effect.parts) });
  const counted = effect.counted === undefined ? {} : { counted_cycle: Math.max(1, effect.counted) };
  const fields = { ...(await fieldsFor(context)), max_rework_cycles: effect.maxCycles, ...counted };
  const payload: WorkPayload =
    source === "merge_fix"
      ? { source, ...fields, rework_cycle: cycle }
      : {
          source,
          ...fields,
          rework_cycle: cycle,
          review_feedback: feedback.join("\n\n"),
          inline_comments: comments,
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

/** What goes along, in words: what has no place, a person's own first, and what has one, with its thread so far. */
function wordsOf(
  { redact }: PrContext,
  { parts, feedback }: Pick<CycleEffect, "parts" | "feedback">,
  { all, along }: { readonly all: ReadonlyMap<string, Part>; readonly along: ReadonlySet<string> },
) {
  const told = parts.flatMap((id) => all.get(id) ?? []);
  const texts = [...(feedback === null ? [] : [feedback]), ...told.flatMap(({ text }) => text ?? [])];
  const comments = told.flatMap((part) => withEarlier(part, [...all.values()], along) ?? []);
  return { feedback: texts.map(redact), comments: comments.map((one) => redacted(one, redact)) };
}

/** Added where nobody has begun; the addition has a name, so that it is there once. */
export async function performJoin(context: PrContext, effect: JoinEffect): Promise<Settled<PrEvent>> {
  const { board, projectId, pr } = context;
  const { item, parts, cycle, join: name, key } = effect;
  const payload = (await board.get(projectId, item))?.payload;
  if (payload?.source === "rework" && payload.joined?.includes(name))
    return { event: { type: "joined", key, taken: true } };
  const before = payload?.source === "rework" ? payload.inline_comments.flatMap(({ id }) => id ?? []) : [];
  // A reply to a remark that is in the item already needs no copy of it.
  const along = new Set([...parts, ...before.map((id) => `inline:${id}`)]);
  const all = await readParts(effect.look);
  const count = `${parts.length} more ${parts.length === 1 ? "remark goes" : "remarks go"} along`;
  const event = { type: "log", level: "info", text: `rework cycle ${cycle}: ${count}` } as const;
  const told = [{ itemId: pr.issueId, event }];
  const taken = await board.joinRework(projectId, item, { name, told, ...wordsOf(context, effect, { all, along }) });
  return { event: { type: "joined", key, taken } };
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
