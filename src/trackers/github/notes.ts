import { hasMarker, markersIn, withMarker } from "../../core/marker.js";
import type { Github } from "../../lib/github-client/client.js";
import { createOnce } from "../../lib/github-client/create-once.js";
import { GithubError } from "../../lib/github-client/failure.js";
import { readComment, type WireComment } from "./wire.js";

/** A hidden claim in a comment. */
export interface Claim {
  readonly comment: number;
  readonly holder: string;
}

/** What is written below issues. Only what trusted people wrote counts: anybody may comment on a public repository. */
export interface Notes {
  /** Those still there, the first first. */
  claims(id: string): Promise<Claim[]>;
  addClaim(id: string, holder: string): Promise<void>;
  removeClaim(claim: Claim): Promise<void>;
  /** Says something once. */
  tell(id: string, note: { readonly key: string; readonly text: string }): Promise<void>;
  hasTold(id: string, key: string): Promise<boolean>;
}

export interface Trust {
  readonly me: () => Promise<string>;
  readonly isTrusted: (written: { readonly login: string | null; readonly association: string }) => boolean;
}

const claimKey = "claim:";

export function openNotes(github: Github, { me, isTrusted }: Trust): Notes {
  const list = async (id: string): Promise<WireComment[]> => {
    const own = await me();
    const route = "GET /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const all = await github.list({ route, with: { issue_number: Number(id) } }, readComment);
    return all.filter(({ user, author_association: association }) => {
      const login = user?.login ?? null;
      return login === own || isTrusted({ login, association: association ?? "NONE" });
    });
  };
  const find = async (id: string, key: string): Promise<WireComment | null> =>
    (await list(id)).find(({ body }) => hasMarker(body ?? "", key)) ?? null;
  const tell = async (id: string, { key, text }: { key: string; text: string }): Promise<void> => {
    const route = "POST /repos/{owner}/{repo}/issues/{issue_number}/comments";
    const values = { issue_number: Number(id), body: withMarker(text, key) };
    const create = async () => readComment(await github.send({ route, with: values }));
    await createOnce<WireComment>({ find: () => find(id, key), create });
  };
  return {
    tell,
    hasTold: async (id, key) => (await find(id, key)) !== null,
    claims: async (id) => {
      const found = (await list(id)).flatMap(({ id: comment, body }) => {
        const key = markersIn(body ?? "").find((each) => each.startsWith(claimKey));
        return key === undefined ? [] : [{ comment, holder: key.slice(claimKey.length) }];
      });
      return found.sort((one, other) => one.comment - other.comment);
    },
    addClaim: (id, holder) => tell(id, { key: `${claimKey}${holder}`, text: `Ratchet works on this (run ${holder}).` }),
    removeClaim: ({ comment }) => removeComment(github, comment),
  };
}

/** One that is gone already is gone. */
async function removeComment(github: Github, id: number): Promise<void> {
  try {
    const route = "DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}";
    await github.send({ route, with: { comment_id: id } });
  } catch (error) {
    if (!(error instanceof GithubError && error.status === 404)) throw error;
  }
}
