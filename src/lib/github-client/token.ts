import { execFile } from "node:child_process";
import { UserError } from "../errors.js";
import { hideSecret } from "../redact.js";

export interface Token {
  readonly value: string;
  readonly from: "GITHUB_TOKEN" | "GH_TOKEN" | "gh";
}

const ghTimeoutMs = 10_000;

/** The token, from the environment or from the login of `gh`. Wherever text is redacted, it is hidden from now on. */
export async function findToken(env: NodeJS.ProcessEnv, host: string): Promise<Token | null> {
  for (const from of ["GITHUB_TOKEN", "GH_TOKEN"] as const) {
    const value = env[from]?.trim();
    if (value) return hidden({ value, from });
  }
  const value = await askGh(env, host);
  return value === null ? null : hidden({ value, from: "gh" });
}

export async function needToken(env: NodeJS.ProcessEnv, host: string): Promise<Token> {
  const token = await findToken(env, host);
  if (token !== null) return token;
  throw new UserError(`there is no token for ${host}`, {
    hint: "set GITHUB_TOKEN, or log in with `gh auth login`",
    code: "token-missing",
  });
}

function hidden(token: Token): Token {
  hideSecret(token.value);
  return token;
}

/** null: there is no `gh`, or it is not logged in there. It can prompt for nothing. */
function askGh(env: NodeJS.ProcessEnv, host: string): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { env: { ...env, GH_PROMPT_DISABLED: "1" }, timeout: ghTimeoutMs, killSignal: "SIGKILL" } as const;
    const child = execFile("gh", ["auth", "token", "--hostname", host], options, (error, stdout) => {
      const value = stdout.trim();
      resolve(error !== null || value === "" || /\s/.test(value) ? null : value);
    });
    child.stdin?.end();
  });
}
