import { endsWithMarker, markerOf } from "../../core/marker.js";
import type { Forge, NewPullRequest, PullRequest } from "../../core/ports/forge.js";
import type { Github } from "../../lib/github-client/client.js";
import { createOnce } from "../../lib/github-client/create-once.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { readComments, readInline } from "./feedback.js";
import { findPullRequest, readPullRequest } from "./pulls.js";
import * as wire from "./wire.js";

/** GitHub refuses a text of more than 65,536 characters, and a title of more than 256. */
const longestText = 65_000;
const longestTitle = 256;

/** The text with its marker; what is too long is cut, and says so. */
export function marked(body: string, key: string): string {
  const marker = markerOf(key);
  const room = longestText - marker.length;
  const whole = body.trimEnd();
  const text = whole.length <= room ? whole : `${whole.slice(0, room - 40)}\n\n(cut: it was longer)`;
  return `${text}\n\n${marker}`;
}

interface Written {
  readonly id: number;
  readonly body?: string | null | undefined;
  readonly user?: { readonly login: string } | null | undefined;
}

/** What we have written ourselves: anybody could copy the marker, and whoever shares our account may quote it. */
export function findOwn<T extends Written>(list: readonly T[], key: string, me: string): T | null {
  return list.find(({ body, user }) => user?.login === me && endsWithMarker(body ?? "", key)) ?? null;
}

export interface Pen {
  readonly github: Github;
  readonly me: () => Promise<string>;
  readonly signal: AbortSignal | undefined;
}

type Comment = Parameters<Forge["comment"]>[1];
type Reply = Parameters<Forge["reply"]>[1];

export async function postComment(
  { github, me, signal }: Pen,
  number: number,
  { key, body }: Comment,
): Promise<{ id: string }> {
  const login = await me();
  const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
  const values = { issue_number: number, body: marked(body, key) };
  const { id } = await createOnce<{ id: number }>(
    {
      find: async () => findOwn(await readComments(github, number, signal), key, login),
      create: async () => readMade(await github.send({ route, with: values, signal })),
    },
    signal,
  );
  return { id: String(id) };
}
const readMade = wire.reader(wire.made, "what was made");

export async function postReply({ github, me, signal }: Pen, number: number, reply: Reply): Promise<{ id: string }> {
  const login = await me();
  const { key, thread, body } = reply;
  const find = async () => {
    const route = "GET /repos/{owner}/{repo}/pulls/{pull_number}/comments";
    const list = await github.list({ route, with: { pull_number: number }, signal }, readInline);
    return findOwn(
      list.filter(({ in_reply_to_id: parent }) => parent != null && String(parent) === thread),
      key,
      login,
    );
  };
  const create = async () => {
    const route = "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies";
    const values = { pull_number: number, comment_id: Number(thread), body: marked(body, key) };
    return readMade(await github.send({ route, with: values, signal }));
  };
  const { id } = await createOnce<{ id: number }>({ find, create }, signal);
  return { id: String(id) };
}

export async function openPull(github: Github, wanted: NewPullRequest, signal?: AbortSignal): Promise<PullRequest> {
  const { branch, base, draft } = wanted;
  const find = () => findPullRequest(github, { branch, state: "open" }, signal);
  const post = async (asDraft: boolean): Promise<PullRequest> => {
    const texts = { title: wanted.title.slice(0, longestTitle), body: marked(wanted.body, wanted.key) };
    const values = { head: branch, base, draft: asDraft, ...texts };
    const made = await github.send({ route: "POST /repos/{owner}/{repo}/pulls", with: values, signal });
    return readPullRequest(github, wire.reader(wire.numbered, "the new pull request")(made).number, signal);
  };
  const create = async (): Promise<PullRequest> => {
    try {
      return await post(draft);
    } catch (error) {
      if (!(error instanceof GithubError) || error.status !== 422) throw error;
      if (draft && /draft pull requests are not supported/i.test(error.message)) return post(false);
      // Somebody else was faster, or our own call that seemed to fail.
      const there = await find();
      if (there === null) throw error;
      return there;
    }
  };
  return createOnce({ find, create }, signal);
}
