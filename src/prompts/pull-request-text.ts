import type { Finding } from "../core/finding.js";

/** What a pull request says about itself: the issue, what changed, how it was checked, what was found on the way. */
export interface PullRequestData {
  readonly issue: { readonly id: string; readonly title: string; readonly body: string };
  /** The forge closes the issue with the merge. */
  readonly closes: boolean;
  readonly changed: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
  /** Names of the commands that passed on this very commit. */
  readonly commands: readonly string[];
  /** Rounds of review, the last of which passed; 0: it was not reviewed. */
  readonly reviewed: number;
  readonly findings: readonly Finding[];
}

const filesMax = 50;
const findingsMax = 50;
const bodyMax = 20_000;

export function pullRequestText(data: PullRequestData): { readonly title: string; readonly body: string } {
  const { issue } = data;
  const parts = [
    issue.body.trim() === "" ? "" : quote(issue.body),
    data.closes ? `Closes #${issue.id}` : `Issue: ${inline(issue.id)}`,
    section("What changed", changedLines(data.changed)),
    section("How it was checked", checkedLines(data)),
    section("Findings raised and resolved", findingLines(data.findings)),
  ];
  const body = parts.filter((part) => part !== "").join("\n\n");
  return { title: title(issue.title), body };
}

function title(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 200 ? `${line.slice(0, 199)}…` : line;
}

/** Quoted, so that nothing in it is taken for a part of ours. */
function quote(text: string): string {
  const kept = text.length > bodyMax ? `${text.slice(0, bodyMax)}\n…` : text;
  return kept
    .trim()
    .split("\n")
    .map((line) => `> ${line}`.trimEnd())
    .join("\n");
}

function section(heading: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `## ${heading}\n\n${lines.join("\n")}`;
}

function changedLines(changed: PullRequestData["changed"]): string[] {
  const shown = changed
    .slice(0, filesMax)
    .map(({ path, added, removed }) =>
      added === null ? `- ${inline(path)}` : `- ${inline(path)} (+${added} −${removed})`,
    );
  const left = changed.length - shown.length;
  return left > 0 ? [...shown, `- … and ${left} more ${left === 1 ? "file" : "files"}`] : shown;
}

function checkedLines({ commands, reviewed }: PullRequestData): string[] {
  const ran = commands.map((name) => `- ${inline(name)} passed on this commit`);
  if (reviewed === 0) return ran;
  return [
    ...ran,
    `- reviewed in ${reviewed} ${reviewed === 1 ? "round" : "rounds"}, the last without a blocking finding`,
  ];
}

function findingLines(findings: readonly Finding[]): string[] {
  const shown = findings.slice(0, findingsMax).map(({ title: what, file, line_start, status, reviewers }) => {
    const place = file === "" ? "" : ` at ${inline(`${file}:${line_start}`)}`;
    return `- ${inline(what)}${place}, by ${inline(reviewers.join(", "))}: ${status}`;
  });
  const left = findings.length - shown.length;
  return left > 0 ? [...shown, `- … and ${left} more`] : shown;
}

/** As code, so that no mention, link or markup in it does anything. */
function inline(text: string): string {
  const plain = text.replace(/\s+/g, " ").replaceAll("`", "'").trim();
  return `\`${plain.length > 200 ? `${plain.slice(0, 199)}…` : plain}\``;
}
