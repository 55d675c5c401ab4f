import * as z from "zod";
import { ExternalError } from "../../lib/errors.js";

/** What GitHub answers about issues, as far as Ratchet reads it. A schema reads what it gave itself. */
const user = z.object({ login: z.string() }).nullish();

const label = z.union([z.string(), z.object({ name: z.string().nullish() })]);
export type WireLabel = z.infer<typeof label>;

const issue = z.object({
  number: z.number(),
  title: z.string(),
  body: z.string().nullish(),
  state: z.enum(["open", "closed"]),
  user,
  author_association: z.string().nullish(),
  labels: z.array(label),
  assignees: z.array(z.object({ login: z.string() })).nullish(),
  updated_at: z.string(),
  /** Only pull requests have it. */
  pull_request: z.object({}).nullish(),
  parent_issue_url: z.string().nullish(),
  issue_dependencies_summary: z.object({ blocked_by: z.number() }).nullish(),
});
export type WireIssue = z.infer<typeof issue>;

const comment = z.object({
  id: z.number(),
  body: z.string().nullish(),
  user,
  author_association: z.string().nullish(),
});
export type WireComment = z.infer<typeof comment>;

function reader<T>(schema: z.ZodType<T>, what: string): (data: unknown) => T {
  return (data) => {
    const result = schema.safeParse(data);
    if (result.success) return result.data;
    const [problem] = result.error.issues;
    const path = problem === undefined || problem.path.length === 0 ? "" : ` at ${problem.path.join(".")}`;
    const found = problem?.message ?? "unknown";
    throw new ExternalError("tracker", `${what} is not as expected${path}: ${found}`, { retryable: true });
  };
}

export const readIssue = reader(issue, "an issue");
export const readLabels = reader(z.array(label), "the labels of an issue");
export const readComment = reader(comment, "a comment");
