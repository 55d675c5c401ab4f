import * as z from "zod";
import { parseJson } from "../../lib/parse-json.js";

/**
 * What a webhook tells: where to look, and nothing else. What happened is then asked of the forge, so a webhook that is
 * lost, doubled or out of order changes nothing.
 */
export interface Notice {
  /** The same when it is delivered again. */
  readonly delivery: string;
  readonly event: string;
  readonly repo: string;
  readonly pullRequests: readonly number[];
  /** Heads of pull requests, where it names only the commit. */
  readonly commits: readonly string[];
}

export interface Webhook {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As it came, byte for byte: the signature is over these. */
  readonly body: string;
  readonly secret: string;
}

const numbered = z.object({ number: z.number() });
const payload = z.object({
  repository: z.object({ full_name: z.string() }),
  pull_request: numbered.nullish(),
  issue: numbered.extend({ pull_request: z.object({}).nullish() }).nullish(),
  check_run: z.object({ head_sha: z.string(), pull_requests: z.array(numbered).nullish() }).nullish(),
  check_suite: z.object({ head_sha: z.string(), pull_requests: z.array(numbered).nullish() }).nullish(),
  sha: z.string().nullish(),
});

/** null: it is not signed with the secret, or is no webhook of a repository. */
export async function readWebhook({ headers, body, secret }: Webhook): Promise<Notice | null> {
  const header = (name: string): string | null => {
    const value = headers[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  const [signature, event, delivery] = ["hub-signature-256", "github-event", "github-delivery"].map((name) =>
    header(`x-${name}`),
  );
  if (!signature || !event || !delivery || secret === "") return null;
  const { verify } = await import("@octokit/webhooks-methods");
  if (!(await verify(secret, body, signature))) return null;
  const result = payload.safeParse(parseJson(body));
  return result.success ? { delivery, event, ...placesIn(result.data) } : null;
}

function placesIn(data: z.infer<typeof payload>): Pick<Notice, "repo" | "pullRequests" | "commits"> {
  const checks = [data.check_run, data.check_suite].flatMap((each) => each ?? []);
  const issue = data.issue?.pull_request ? [data.issue.number] : [];
  const pulls = [
    data.pull_request?.number ?? [],
    issue,
    checks.flatMap((each) => each.pull_requests ?? []).map((each) => each.number),
  ];
  return {
    repo: data.repository.full_name,
    pullRequests: [...new Set(pulls.flat())],
    commits: [...checks.map((each) => each.head_sha), ...(data.sha ? [data.sha] : [])],
  };
}
