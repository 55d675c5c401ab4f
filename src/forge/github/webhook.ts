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
  /** null: it is about no repository, an organisation's ping for one. */
  readonly repo: string | null;
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
  repository: z.object({ full_name: z.string() }).nullish(),
  pull_request: numbered.nullish(),
  issue: numbered.extend({ pull_request: z.object({}).nullish() }).nullish(),
  check_run: z.object({ head_sha: z.string(), pull_requests: z.array(numbered).nullish() }).nullish(),
  check_suite: z.object({ head_sha: z.string(), pull_requests: z.array(numbered).nullish() }).nullish(),
  sha: z.string().nullish(),
});

export type ReadWebhook =
  | { readonly type: "notice"; readonly notice: Notice }
  /** Whoever sent it does not know the secret. */
  | { readonly type: "unsigned"; readonly reason: string }
  | { readonly type: "malformed"; readonly reason: string };

/** Nothing of what it says is looked at before the signature is. */
export async function readWebhook({ headers, body, secret }: Webhook): Promise<ReadWebhook> {
  const header = (name: string): string | null => {
    const value = headers[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  const signature = header("x-hub-signature-256");
  if (signature === null) return { type: "unsigned", reason: "the header x-hub-signature-256 is missing" };
  if (body === "") return malformed("the body is empty");
  const { verify } = await import("@octokit/webhooks-methods");
  if (secret === "" || !(await verify(secret, body, signature))) {
    return { type: "unsigned", reason: "it is not signed with the secret" };
  }
  const [event, delivery] = [header("x-github-event"), header("x-github-delivery")];
  if (event === null) return malformed("the header x-github-event is missing");
  if (delivery === null) return malformed("the header x-github-delivery is missing");
  const result = payload.safeParse(parseJson(body));
  if (!result.success) return malformed(whatIsWrong(result.error));
  return { type: "notice", notice: { delivery, event, ...placesIn(result.data) } };
}

function malformed(reason: string): ReadWebhook {
  return { type: "malformed", reason };
}

function whatIsWrong({ issues: [first] }: z.ZodError): string {
  const path = first?.path.join(".") ?? "";
  return path === "" ? "the body is no JSON object" : `${path} is not as expected: ${first?.message ?? "unknown"}`;
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
    repo: data.repository?.full_name ?? null,
    pullRequests: [...new Set(pulls.flat())],
    commits: [...checks.map((each) => each.head_sha), ...(data.sha ? [data.sha] : [])],
  };
}
