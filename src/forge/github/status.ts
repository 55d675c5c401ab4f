import { ExternalError, messageOf } from "../../lib/errors.js";
import { openGithub } from "../../lib/github-client/client.js";
import { hostOf, placeOf } from "../../lib/github-client/remote.js";
import type { Budget, Wait } from "../../lib/github-client/sender.js";
import { findToken, type Token } from "../../lib/github-client/token.js";
import * as wire from "./wire.js";

/** What a person must know to tell why the forge does not answer. Nothing of it throws. */
export interface ForgeStatus {
  readonly repo: string | null;
  readonly apiUrl: string | null;
  readonly token: Token["from"] | null;
  readonly login: string | null;
  readonly reachable: boolean;
  /** Whether the token may push; null: not told. */
  readonly mayPush: boolean | null;
  readonly budget: Budget | null;
  /** In the order in which they are to be mended; none: all is well. */
  readonly problems: readonly { readonly message: string; readonly hint: string | null }[];
}

interface StatusOptions {
  readonly forge: { readonly repo: string | null; readonly api_url: string | null };
  readonly originUrl: string | null;
  readonly env: NodeJS.ProcessEnv;
  readonly userAgent: string;
  readonly timeoutMs?: number;
}

const nothing: ForgeStatus = {
  repo: null,
  apiUrl: null,
  token: null,
  login: null,
  reachable: false,
  mayPush: null,
  budget: null,
  problems: [],
};

export async function forgeStatus(wanted: StatusOptions): Promise<ForgeStatus> {
  const problems: { message: string; hint: string | null }[] = [];
  const attempt = async <T>(task: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await task();
    } catch (error) {
      const hint = error instanceof Error && "hint" in error && typeof error.hint === "string" ? error.hint : null;
      problems.push({ message: messageOf(error), hint });
      return null;
    }
  };
  const place = await attempt(() => placeOf(wanted.forge, wanted.originUrl));
  if (place === null) return { ...nothing, problems };
  const token = await findToken(wanted.env, hostOf(place));
  const known = { ...nothing, repo: place.repo, apiUrl: place.apiUrl, token: token?.from ?? null };
  if (token === null) {
    const hint = "set GITHUB_TOKEN, or log in with `gh auth login`";
    return { ...known, problems: [{ message: `there is no token for ${hostOf(place)}`, hint }] };
  }
  // A limit would be waited for: this is to tell of it instead.
  const patience = new AbortController();
  const onWait = ({ until }: Wait): void => {
    patience.abort(new ExternalError("forge", `the rate limit is used up until ${new Date(until).toISOString()}`));
  };
  const options = { place, token: token.value, userAgent: wanted.userAgent, timeoutMs: wanted.timeoutMs ?? 10_000 };
  const github = openGithub({ ...options, what: "forge", backoffMs: [], onWait });
  const { signal } = patience;
  const user = await attempt(() =>
    github.get({ route: "GET /user", signal }, wire.reader(wire.account, "the token's user")),
  );
  const repository = await attempt(() =>
    github.get({ route: "GET /repos/{owner}/{repo}", signal }, wire.reader(wire.repository, "the repository")),
  );
  const mayPush = repository?.permissions?.push ?? null;
  if (mayPush === false)
    problems.push({ message: `the token may not push to ${place.repo}`, hint: "see docs/github.md" });
  const login = user?.login ?? null;
  return { ...known, login, reachable: repository !== null, mayPush, budget: github.budget(), problems };
}
