/**
 * What `cerberus wait --json` answers, and the reviewers' own files below its state folder. The verdict is a word of
 * theirs; ours is pass or fail, and the findings decide. Whatever says neither is no verdict, with the reason.
 */
export type Gate =
  | { readonly type: "verdict"; readonly verdict: "pass" | "fail"; readonly word: string; readonly iteration: number }
  | { readonly type: "none"; readonly reason: string };

type Fields = Readonly<Record<string, unknown>>;

export function readGate(answer: unknown): Gate {
  if (!isFields(answer)) return { type: "none", reason: "the answer of cerberus wait is not a JSON object" };
  if (answer.status !== "resolved")
    return { type: "none", reason: `the review is ${show(answer.status)}, not resolved` };
  const word = typeof answer.verdict === "string" ? answer.verdict.toLowerCase() : "";
  const iteration = Number.isSafeInteger(answer.current_iteration) ? Number(answer.current_iteration) : 0;
  switch (word) {
    case "pass":
    case "needs_work":
      return { type: "verdict", verdict: "pass", word, iteration };
    case "fail":
    case "requires_decision":
      return { type: "verdict", verdict: "fail", word, iteration };
    default:
      return { type: "none", reason: `${show(answer.verdict)} is no verdict of cerberus` };
  }
}

/** Why it was resolved, in cerberus's words; "" where it says nothing. */
export function resolutionOf(answer: unknown): string {
  return isFields(answer) && typeof answer.resolution_reason === "string" ? answer.resolution_reason : "";
}

/** The findings of the last iteration that the answer itself carries. */
export function findingsIn(answer: unknown): readonly Fields[] {
  if (!isFields(answer)) return [];
  const { iterations, findings, current_iteration: current } = answer;
  for (const given of [iterations, findings]) {
    const found = lastOf(given, current);
    if (found !== null) return found.map(toFinding);
  }
  return [];
}

/** A list of findings, a list of iterations with findings, or either by the number of the iteration. */
function lastOf(given: unknown, current: unknown): readonly Fields[] | null {
  if (Array.isArray(given)) {
    const entries = given.filter(isFields);
    const last = entries.find((each) => numberOf(each) === current) ?? entries.at(-1);
    if (last !== undefined && Array.isArray(last.findings)) return last.findings.filter(isFields);
    const numbers = entries.map(numberOf).filter((number) => typeof number === "number");
    const newest = typeof current === "number" ? current : Math.max(...numbers);
    return numbers.length === 0 ? entries : entries.filter((each) => numberOf(each) === newest);
  }
  if (!isFields(given)) return null;
  const keys = Object.keys(given).sort((one, other) => Number(one) - Number(other));
  const chosen = given[String(current)] ?? given[keys.at(-1) ?? ""];
  if (isFields(chosen)) return lastOf(chosen.findings, current);
  return lastOf(chosen, current);
}

function numberOf(fields: Fields): unknown {
  return fields.iteration ?? fields.number;
}

/** One reviewer's file of the last round; null: it is not what a reviewer writes. */
export function findingsOfReviewer(output: unknown, reviewer: string): readonly Fields[] | null {
  if (!isFields(output)) return null;
  const findings = output.findings ?? [];
  if (!Array.isArray(findings)) return null;
  return findings.filter(isFields).map((finding) => ({ reviewer, ...toFinding(finding) }));
}

/** Theirs is called file_path; all the rest is read like every reviewer's. */
function toFinding({ file_path, ...finding }: Fields): Fields {
  return { ...finding, file: finding.file ?? file_path };
}

/** What all of its reviewers used; null: it does not say. */
export function usageOf(telemetry: unknown): Fields | null {
  if (!isFields(telemetry) || !isFields(telemetry.total_tokens)) return null;
  const { input, output } = telemetry.total_tokens;
  return { input_tokens: input, output_tokens: output, cost_usd: telemetry.total_cost_usd };
}

function show(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 80);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
