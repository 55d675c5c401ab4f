import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ImportedIssue, Project, Store } from "../../app.js";
import { inlineTextBytes, type Remark } from "../../core/finding.js";
import type { IssueRecord } from "../../core/record.js";
import { codeOf, messageOf, Refusal } from "../../lib/errors.js";
import { keepText } from "../../lib/long-text.js";
import { type ForeignRun, readForeignRun } from "../../views/foreign-record.js";
import { type ForeignTracker, foreignName } from "../../views/foreign-tracker.js";
import type { Context } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
import { findLiving } from "../living.js";

/** A file that could not be taken over; the others are. */
interface Failure {
  readonly file: string;
  readonly message: string;
}
interface Imported {
  readonly file: string;
  readonly run_id: string;
  readonly result: "imported" | "known";
  readonly issues: readonly {
    readonly issue_id: string;
    readonly status: string;
    readonly review_issues: number;
    /** null: the issues are in another tracker, which is not asked. */
    readonly on_board: boolean | null;
  }[];
}
interface Place {
  readonly store: Store;
  readonly project: Project;
  readonly foreign: ForeignTracker | null;
}
interface Read extends ForeignRun {
  readonly file: string;
}

/** `runs import`: every file that can be read is taken over, oldest run first; a corrupt one is named. */
export async function importRuns(
  context: Context,
  path: string,
  { json = false }: { json?: boolean },
): Promise<number> {
  const project = await context.app.project();
  const store = await context.app.store();
  const foreign = await foreignTracker(context);
  const imported: Imported[] = [];
  const failed: Failure[] = [];
  const attempt = async <T>(file: string, work: () => Promise<T>): Promise<T[]> => {
    try {
      return [await work()];
    } catch (error) {
      if (!(error instanceof Refusal) && codeOf(error) === null) throw error;
      failed.push({ file, message: messageOf(error) });
      return [];
    }
  };
  const runs: Read[] = [];
  for (const file of await filesAt(path)) runs.push(...(await attempt(file, () => readRun(file, project))));
  runs.sort((one, other) => (one.run.started_at < other.run.started_at ? -1 : 1));
  for (const run of runs) {
    imported.push(...(await attempt(run.file, () => takeOver(context, { store, project, foreign }, run))));
  }
  tell(context, { imported, failed, foreign, json });
  return failed.length === 0 ? 0 : 1;
}

async function filesAt(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).filter((name) => name.endsWith(".json")).sort();
    if (names.length > 0) return names.map((name) => join(path, name));
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw new Refusal(`${path} cannot be read: ${messageOf(error)}`, { code: "not-found" });
  }
  throw new Refusal(`there is no .json file in ${path}`, {
    code: "not-found",
    hint: "give a file, or the folder that has the files of this repository's runs",
  });
}

async function readRun(file: string, { repoPath }: Project): Promise<Read> {
  const text = (await readFile(file, "utf8")).replace(/^\ufeff/, "");
  const run = readForeignRun(parse(text), { repoPath, now: Date.now() });
  if (typeof run === "string") throw new Refusal(run);
  return { ...run, file };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(`it is not JSON: ${messageOf(error)}`);
  }
}

async function takeOver(
  { app }: Context,
  { store, project, foreign }: Place,
  { file, run, issues }: Read,
): Promise<Imported> {
  for (const { issue_id } of issues) {
    const living = await findLiving(store, project.id, issue_id);
    if (living === null) continue;
    throw new Refusal(`${issue_id} is being worked on by run ${living.runId}: import it when that has ended`);
  }
  const folderOf = (issueId: string) => app.home.attempt(run.run_id, issueId, "import");
  const prepared = await Promise.all(issues.map((record) => prepare(record, folderOf(record.issue_id))));
  const record = { ...run, project_id: project.id };
  const { runId, isNew } = await store.importRun({ record, issues: prepared });
  const told = issues.map(async ({ issue_id, status, last_review_issues }) => ({
    issue_id,
    status,
    review_issues: last_review_issues?.length ?? 0,
    on_board: foreign === null ? (await store.workItems.get(project.id, issue_id)) !== null : null,
  }));
  return { file, run_id: runId, result: isNew ? "imported" : "known", issues: await Promise.all(told) };
}

/** Long texts go to files, as everywhere; the ledger and the record refer to them. */
async function prepare(record: IssueRecord, folder: string): Promise<ImportedIssue> {
  const stored = record.last_review_issues;
  if (stored === null) return { record, remarks: [] };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = stored.map(async (issue, index) => {
    const body = await keepText(issue.body, join(folder, `finding-${index + 1}.md`), inlineTextBytes);
    const { line_end, ...rest } = issue;
    const lines = { line_end: Math.max(issue.line_start, line_end) };
    const remark: Remark = { ...rest, ...lines, title: issue.title.replace(/\s+/g, " ").trim(), body };
    return { remark, issue: { ...issue, body: body.text, ...(body.ref ? { ref: body.ref } : {}) } };
  });
  const all = await Promise.all(kept);
  return {
    record: { ...record, last_review_issues: all.map(({ issue }) => issue) },
    remarks: all.map(({ remark }) => remark),
  };
}

interface Outcome {
  readonly imported: readonly Imported[];
  readonly failed: readonly Failure[];
  readonly foreign: ForeignTracker | null;
  readonly json: boolean;
}

function tell({ out }: Context, { imported, failed, foreign, json }: Outcome): void {
  if (json) {
    const message = failed.map((one) => `${one.file}: ${one.message}`).join("\n");
    const error = failed.length === 0 ? {} : { error: { code: "import-failed", message, hint: null } };
    out.json({ imported, failed, ...error });
    return;
  }
  for (const { run_id, result, issues } of imported) {
    if (result === "known") {
      out.line(`${run_id} is known already: nothing changed`);
      continue;
    }
    out.line(`${run_id} imported: ${issues.length} ${issues.length === 1 ? "issue" : "issues"}`);
    for (const { issue_id, status, review_issues, on_board } of issues) {
      const findings =
        review_issues === 0 ? "" : `, ${review_issues} review ${review_issues === 1 ? "finding" : "findings"}`;
      const board = on_board === false ? ", not on the board: only its record is kept" : "";
      out.line(`  ${issue_id}: ${status}${findings}${board}`);
    }
  }
  if (foreign !== null && imported.some(({ result }) => result === "imported")) {
    out.line(`ratchet run --resume goes on with those that are open in ${foreignName(foreign)}`);
  }
  for (const { file, message } of failed) out.note(`ratchet: ${file} was not imported: ${message}`);
}
