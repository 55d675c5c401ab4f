import * as z from "zod";
import { ExternalError } from "../../lib/errors.js";

/**
 * What GitHub answers, as far as Ratchet reads it: the only place that knows its field names. Unknown fields are left
 * out; a field that is missing or of another kind is an error, never a guess. A schema reads what it gave itself.
 */
const user = z.object({ login: z.string(), type: z.string().nullish() }).nullish();
const association = z.string().nullish();

export const account = z.object({ login: z.string() });

export const listedPull = z.object({
  number: z.number(),
  state: z.string(),
  head: z.object({ ref: z.string(), repo: z.object({ full_name: z.string() }).nullish() }),
});

export const pull = z.object({
  number: z.number(),
  html_url: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(["open", "closed"]),
  merged: z.boolean(),
  draft: z.boolean().nullish(),
  user,
  author_association: association,
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullish() }),
  base: z.object({ ref: z.string(), sha: z.string() }),
  mergeable: z.boolean().nullish(),
  merge_commit_sha: z.string().nullish(),
  updated_at: z.string(),
});
export type WirePull = z.infer<typeof pull>;

export const review = z.object({
  id: z.number(),
  user,
  body: z.string().nullish(),
  state: z.string(),
  submitted_at: z.string().nullish(),
  commit_id: z.string().nullish(),
  author_association: association,
});
export type WireReview = z.infer<typeof review>;

export const inline = z.object({
  id: z.number(),
  pull_request_review_id: z.number().nullish(),
  path: z.string(),
  line: z.number().nullish(),
  original_line: z.number().nullish(),
  start_line: z.number().nullish(),
  subject_type: z.string().nullish(),
  in_reply_to_id: z.number().nullish(),
  user,
  body: z.string(),
  created_at: z.string(),
  author_association: association,
  commit_id: z.string(),
});
export type WireInline = z.infer<typeof inline>;

export const comment = z.object({
  id: z.number(),
  user,
  body: z.string().nullish(),
  created_at: z.string(),
  author_association: association,
});
export type WireComment = z.infer<typeof comment>;

export const checkRun = z.object({
  id: z.number(),
  name: z.string(),
  head_sha: z.string(),
  status: z.string(),
  conclusion: z.string().nullish(),
  details_url: z.string().nullish(),
  html_url: z.string().nullish(),
  output: z
    .object({ title: z.string().nullish(), summary: z.string().nullish(), text: z.string().nullish() })
    .nullish(),
  app: z.object({ slug: z.string().nullish() }).nullish(),
});
export type WireCheckRun = z.infer<typeof checkRun>;

export const status = z.object({
  id: z.number(),
  context: z.string(),
  state: z.string(),
  description: z.string().nullish(),
  target_url: z.string().nullish(),
});
export type WireStatus = z.infer<typeof status>;

export const branch = z.object({
  protection: z
    .object({ required_status_checks: z.object({ contexts: z.array(z.string()).nullish() }).nullish() })
    .nullish(),
});
export const rule = z.object({
  type: z.string(),
  parameters: z.object({ required_status_checks: z.array(z.object({ context: z.string() })).nullish() }).nullish(),
});

export const file = z.object({ filename: z.string(), patch: z.string().nullish() });
export const merged = z.object({ sha: z.string(), merged: z.boolean() });
export const made = z.object({ id: z.number() });
export const numbered = z.object({ number: z.number() });
export const repository = z.object({
  full_name: z.string(),
  permissions: z.object({ push: z.boolean().nullish() }).nullish(),
});

/** A parser that says what does not fit, and where. */
export function reader<T>(schema: z.ZodType<T>, what: string): (data: unknown) => T {
  return (data) => {
    const result = schema.safeParse(data);
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    const path = issue === undefined || issue.path.length === 0 ? "" : ` at ${issue.path.join(".")}`;
    throw new ExternalError("forge", `${what} is not as expected${path}: ${issue?.message ?? "unknown"}`);
  };
}
