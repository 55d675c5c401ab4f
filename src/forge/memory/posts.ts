import { endsWithMarker, withMarker } from "../../core/marker.js";
import type { Author, Forge, NewReview } from "../../core/ports/forge.js";
import { ExternalError } from "../../lib/errors.js";
import { findPull } from "./people.js";
import { type MemoryState, nextId } from "./state.js";

/** Who writes, and when. */
export interface Pen {
  readonly me: Author;
  readonly at: string;
}

/** Ours by who wrote it and by its marker: anybody could copy a marker. */
function findOwn<T extends { readonly author: Author; readonly body: string }>(
  list: readonly T[],
  key: string,
  { me }: Pen,
): T | null {
  return list.find(({ author, body }) => author.login === me.login && endsWithMarker(body, key)) ?? null;
}

export function addComment(
  now: MemoryState,
  number: number,
  { key, body, ...pen }: Parameters<Forge["comment"]>[1] & Pen,
): { readonly id: string } {
  const pull = findPull(now, number);
  const there = findOwn(
    now.comments.filter((each) => each.pull === number),
    key,
    pen,
  );
  if (there) return { id: there.id };
  const id = nextId(now);
  now.comments.push({ pull: number, id, author: pen.me, body: withMarker(body, key), createdAt: pen.at });
  pull.updatedAt = pen.at;
  return { id };
}

export function addReply(
  now: MemoryState,
  number: number,
  { key, thread, body, ...pen }: Parameters<Forge["reply"]>[1] & Pen,
): { readonly id: string } {
  const there = findOwn(
    now.inline.filter((each) => each.thread === thread),
    key,
    pen,
  );
  if (there) return { id: there.id };
  const first = now.inline.find((each) => each.id === thread && each.pull === number);
  if (!first) throw new ExternalError("forge", `there is no thread ${thread}`);
  const id = nextId(now);
  now.inline.push({ ...first, id, thread, author: pen.me, body: withMarker(body, key), createdAt: pen.at });
  findPull(now, number).updatedAt = pen.at;
  return { id };
}

const states = { approve: "approved", request_changes: "changes_requested", comment: "commented" } as const;

/** Nobody judges his own: then it is a comment, as on other forges. */
export function addReview(
  now: MemoryState,
  number: number,
  { review, ...pen }: { readonly review: NewReview } & Pen,
): { readonly id: string; readonly refused: boolean } {
  const pull = findPull(now, number);
  const { me, at } = pen;
  const refused = pull.author.login === me.login && review.verdict !== "comment";
  const there = findOwn(
    now.reviews.filter((each) => each.pull === number),
    review.key,
    pen,
  );
  if (there) return { id: there.id, refused };
  const id = nextId(now);
  const { commit } = review;
  const state = refused ? "commented" : states[review.verdict];
  const body = withMarker(review.body, review.key);
  now.reviews.push({ pull: number, id, author: me, body, state, commit, submittedAt: at });
  for (const remark of review.comments) {
    const own = nextId(now);
    const { path, line, startLine = null } = remark;
    const place = { path, line, originalLine: line, startLine, about: "line" } as const;
    const written = { author: me, body: remark.body, createdAt: at, commit };
    now.inline.push({ pull: number, id: own, thread: own, review: id, ...place, ...written });
  }
  pull.updatedAt = at;
  return { id, refused };
}
