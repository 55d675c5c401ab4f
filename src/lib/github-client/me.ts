import { ExternalError } from "../errors.js";
import type { Github } from "./client.js";

/** Who the token belongs to. Asked once; a failure is not remembered. */
export function rememberMe(github: Github): (signal?: AbortSignal) => Promise<string> {
  let known: string | null = null;
  return async (signal) => {
    known ??= (await github.get({ route: "GET /user", signal }, (data) => readAccount(github, data))).login;
    return known;
  };
}

function readAccount({ what }: Github, data: unknown): { readonly login: string } {
  const login = typeof data === "object" && data !== null && "login" in data ? data.login : null;
  if (typeof login === "string" && login !== "") return { login };
  throw new ExternalError(what, "GET /user: the token's user has no login", { retryable: true });
}
