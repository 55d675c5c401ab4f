import type { Finding } from "../core/finding.js";

/** What Ratchet writes on a pull request. Short: the commit says the rest. */
export function replyText(commit: string): string {
  return `Addressed in ${commit}.`;
}

export function summaryText(done: {
  readonly cycle: number;
  readonly commit: string;
  readonly parts: readonly string[];
}): string {
  const { parts } = done;
  const checks = parts.filter((id) => id.startsWith("check:")).map((id) => `the check \`${nameOf(id)}\``);
  const conflict = parts.some((id) => id.startsWith("conflict@")) ? ["the conflict with the base"] : [];
  const remarks = parts.filter((id) => id.startsWith("review:") || id.startsWith("comment:")).length;
  const said = remarks === 0 ? [] : [`${remarks} ${remarks === 1 ? "remark" : "remarks"} without a thread`];
  const own = parts.some((id) => id.startsWith("own:")) ? ["what Ratchet's own review found"] : [];
  const what = [...said, ...own, ...checks, ...conflict];
  const list = what.length === 0 ? "The feedback" : what.join(", ");
  return `Rework cycle ${done.cycle}, addressed in ${done.commit}: ${list}.`;
}

function nameOf(check: string): string {
  return check.slice("check:".length, check.lastIndexOf("@")).replaceAll("`", "'");
}

export function reviewText(review: {
  readonly verdict: "pass" | "fail";
  readonly count: number;
  readonly rest: readonly Finding[];
}): string {
  const { verdict, count, rest } = review;
  const found = count === 0 ? "nothing that needs a change" : `${count} ${count === 1 ? "finding" : "findings"}`;
  const head =
    verdict === "pass" ? `Ratchet's review passed: ${found}.` : `Ratchet's review asks for changes: ${found}.`;
  return [head, ...rest.map(line)].join("\n\n");
}

export function escalationText(escalation: {
  readonly reason: string;
  readonly issueId: string;
  readonly open: readonly Finding[];
}): string {
  const { reason, issueId, open } = escalation;
  const findings = open.length === 0 ? [] : [`Open findings:\n\n${open.slice(0, 50).map(line).join("\n")}`];
  const how = `A person decides now. When that is done: \`ratchet retry ${issueId}\` lets Ratchet go on.`;
  return [`Ratchet stops working on this pull request: ${reason}.`, ...findings, how].join("\n\n");
}

function line({ title, file, line_start, body, priority }: Finding): string {
  const place = file === "" ? "" : ` (\`${file}:${line_start}\`)`;
  const rank = priority === null ? "" : `P${priority} `;
  const words = body.text
    .trim()
    .split("\n")
    .map((one) => `  > ${one}`.trimEnd())
    .join("\n");
  return `- ${rank}${title.replace(/\s+/g, " ")}${place}${words === "  >" ? "" : `\n${words}`}`;
}
