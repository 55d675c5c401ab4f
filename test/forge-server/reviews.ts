import { type Asked, count, notFound, ok, pageOf, Refused, type Route, text } from "./answer.js";
import { changedFiles } from "./git.js";
import { type Found, findPull } from "./pulls.js";
import type { Inline, Review } from "./state.js";

const states = { APPROVE: "APPROVED", REQUEST_CHANGES: "CHANGES_REQUESTED", COMMENT: "COMMENTED" } as const;
const verbs = { APPROVE: "approve", REQUEST_CHANGES: "request changes on" } as const;

const listReviews: Route = (asked) => {
  const { issue } = findPull(asked);
  const { state, shapes, query } = asked;
  const own = state.repo.reviews.filter((review) => review.pull === issue.number);
  const { page, total } = pageOf(query, own);
  return { status: 200, body: page.map((review) => shapes.review(review)), total };
};

const addReview: Route = async (asked) => {
  const found = findPull(asked);
  const { state, shapes, who, body, tell } = asked;
  const { issue, pull } = found;
  const event = body.event === "APPROVE" || body.event === "REQUEST_CHANGES" ? body.event : "COMMENT";
  if (event !== "COMMENT" && issue.author === who.login) {
    throw new Refused(422, "Unprocessable Entity", [`Can not ${verbs[event]} your own pull request`]);
  }
  if (event !== "APPROVE" && text(body.body) === "")
    throw new Refused(422, "Unprocessable Entity", ["Body is missing"]);
  const wanted: readonly unknown[] = Array.isArray(body.comments) ? body.comments : [];
  const places = wanted.map((each) => placeOf({ ...asked, body: isFields(each) ? each : {} }, found));
  await refuseOutside(asked, found, places);
  const commit = text(body.commit_id, pull.headSha);
  const review: Review = {
    ...{ id: state.nextId(), pull: issue.number, author: who.login, body: text(body.body) },
    ...{ state: states[event], commit, submittedAt: state.time() },
  };
  state.repo.reviews.push(review);
  for (const place of places) await addInline(asked, found, { ...place, review: review.id, commit });
  state.touch(issue.number);
  const payload = { review: shapes.review(review), pull_request: shapes.listedPull(issue, pull) };
  tell("pull_request_review", { action: "submitted", ...payload });
  return ok(shapes.review(review));
};

interface Place extends Pick<Inline, "path" | "line" | "startLine" | "about" | "body"> {
  readonly replyTo: number | null;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function placeOf({ body, state }: Asked, { issue }: Found): Place {
  const replyTo = count(body.in_reply_to);
  const parent = state.repo.inline.find(({ id, pull }) => id === replyTo && pull === issue.number);
  if (replyTo !== null && !parent) throw notFound();
  if (parent) {
    const { path, line, startLine, about } = parent;
    // A reply to a reply goes to the one that began the thread.
    return { path, line, startLine, about, body: text(body.body), replyTo: parent.replyTo ?? parent.id };
  }
  const about = body.subject_type === "file" ? "file" : "line";
  const lines = { line: count(body.line), startLine: count(body.start_line) };
  return { path: text(body.path), ...lines, about, body: text(body.body), replyTo: null };
}

/** Only lines that the diff shows can be commented on. */
async function refuseOutside(asked: Asked, { pull }: Found, places: readonly Place[]): Promise<void> {
  if (places.length === 0) return;
  const files = await changedFiles(asked.state.repo.gitDir, pull.baseSha, pull.headSha);
  for (const { path, line, startLine, about } of places) {
    const file = files.find((each) => each.path === path);
    if (!file) throw new Refused(422, "Unprocessable Entity", ["Path could not be resolved"]);
    if (about === "file") continue;
    const shown = [...file.patch.matchAll(/^@@ -\S+ \+(\d+)(?:,(\d+))? @@/gm)].some(([, start, length]) => {
      const [first, last] = [Number(start), Number(start) + Number(length ?? 1) - 1];
      return line !== null && (startLine ?? line) >= first && line <= last;
    });
    if (!shown) throw new Refused(422, "Unprocessable Entity", ["Line could not be resolved"]);
  }
}

async function addInline(
  { state, who, shapes, tell }: Asked,
  { issue, pull }: Found,
  made: Place & { readonly review: number | null; readonly commit: string },
): Promise<Inline> {
  const comment: Inline = {
    ...made,
    ...{ id: state.nextId(), pull: issue.number, author: who.login, createdAt: state.time() },
  };
  state.repo.inline.push(comment);
  state.touch(issue.number);
  const payload = { comment: await shapes.inline(comment), pull_request: shapes.listedPull(issue, pull) };
  tell("pull_request_review_comment", { action: "created", ...payload });
  return comment;
}

const listInline: Route = async (asked) => {
  const { issue } = findPull(asked);
  const { state, shapes, query } = asked;
  const own = state.repo.inline.filter((comment) => comment.pull === issue.number);
  const { page, total } = pageOf(query, own);
  const body = [];
  for (const comment of page) body.push(await shapes.inline(comment));
  return { status: 200, body, total };
};

const postInline: Route = async (asked) => {
  const found = findPull(asked);
  const place = placeOf(asked, found);
  if (place.replyTo === null) await refuseOutside(asked, found, [place]);
  const commit = text(asked.body.commit_id, found.pull.headSha);
  const comment = await addInline(asked, found, { ...place, review: null, commit });
  return ok(await asked.shapes.inline(comment), 201);
};

const postReply: Route = (asked) => {
  const { comment_id: id } = asked.params;
  return postInline({ ...asked, body: { ...asked.body, in_reply_to: Number(id) } });
};

export const reviewRoutes: Readonly<Record<string, Route>> = {
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews": listReviews,
  "POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews": addReview,
  "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments": listInline,
  "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments": postInline,
  "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies": postReply,
};
