import { openFindings } from "../../core/ledger/ledger.js";
import type { NewReview } from "../../core/ports/forge.js";
import type { PostEffect } from "../../core/pull-request/effects.js";
import { escalationText, replyText, reviewText, summaryText } from "../../prompts/pull-request-posts.js";
import type { PrContext } from "./context.js";

interface Posted {
  readonly id: string;
  readonly refused?: boolean;
}

/** Each has a key of its own in its text: told twice, it is there once. */
export async function post(context: PrContext, effect: PostEffect, signal: AbortSignal): Promise<Posted> {
  const { forge, pr, redact } = context;
  switch (effect.op) {
    case "reply": {
      const { thread, cycle, commit } = effect;
      const reply = { key: `answer:${cycle}:${thread}`, thread, body: replyText(commit) };
      return await forge.reply(pr.number, reply, signal);
    }
    case "summary": {
      const { cycle, commit, parts } = effect;
      const comment = { key: `answer:${cycle}`, body: summaryText({ cycle, commit, parts }) };
      return await forge.comment(pr.number, comment, signal);
    }
    case "escalation": {
      const open = openFindings(context.life().ledger, { defects: true });
      const body = redact(escalationText({ reason: effect.reason, issueId: pr.issueId, open }));
      return await forge.comment(pr.number, { key: `escalation:${context.life().state.forgiven}`, body }, signal);
    }
    case "review":
      return await postReview(context, effect, signal);
  }
}

async function postReview(
  { forge, pr, ledger, redact }: PrContext,
  effect: Extract<PostEffect, { readonly op: "review" }>,
  signal: AbortSignal,
): Promise<Posted> {
  const { item, commit, verdict } = effect;
  const findings = openFindings(await ledger(item), { sources: ["review"] });
  const placed = findings.filter(({ file, line_start }) => file !== "" && line_start > 0);
  const rest = findings.filter((finding) => !placed.includes(finding));
  const review: NewReview = {
    key: `review:${item}`,
    commit,
    verdict: verdict === "pass" ? "approve" : "request_changes",
    body: redact(reviewText({ verdict, count: findings.length, rest })),
    comments: placed.map(({ file, line_start, line_end, title, body, priority }) => ({
      path: file,
      line: Math.max(line_start, line_end),
      ...(line_end > line_start ? { startLine: line_start } : {}),
      body: redact(`**${priority === null ? "" : `P${priority}: `}${title}**\n\n${body.text}`),
    })),
  };
  return await forge.review(pr.number, review, signal);
}
