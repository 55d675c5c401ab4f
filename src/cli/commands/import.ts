import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { ImportedIssue, OnlyHistory, Project, Store } from "../../app.js";
import { inlineTextBytes, type Remark } from "../../core/finding.js";
import { singleLine } from "../../core/ledger/render-words.js";
import type { ItemStatus } from "../../core/ports/tracker.js";
import type { IssueRecord } from "../../core/record.js";
import { codeOf, messageOf, Refusal } from "../../lib/errors.js";
import { readPlainFile } from "../../lib/files.js";
import { jsonText } from "../../lib/json-text.js";
import { keepText } from "../../lib/long-text.js";
import { type ForeignRun, readForeignRun } from "../../views/foreign-record.js";
import { type ForeignTracker, foreignName } from "../../views/foreign-tracker.js";
import { plural } from "../../views/format.js";
import type { Context } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
import { findBegun, inTheMiddle } from "../living.js";
import { typed } from "../typed.js";

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
    /** What is kept as findings; of a run that is known, what its record names. */
    readonly review_issues: number;
    /** null: the issues are in another tracker, which is not asked. */
    readonly on_board: boolean | null;
    /** Why it is only a record: nothing takes its findings up, nor, where it is given up, its session. null: it is more. */
    readonly only_record: "completed" | OnlyHistory | null;
    /** What its record names as a finding and is none. */
    readonly left_out: number;
  }[];
  /** What the record names as an issue and is none. */
  readonly left_out: number;
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
  for (const file of await filesAt(path)) {
    // Who names a pipe itself means what comes out of it.
    const read = () => (file === path ? readFile(file, "utf8") : readPlainFile(file));
    runs.push(...(await attempt(file, async () => readRun(file, await read(), project))));
  }
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
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries
      .filter((entry) => entry.name.endsWith(".json") && !entry.isDirectory())
      .map(({ name }) => name);
    if (names.length > 0) return names.sort().map((name) => join(path, name));
  } catch (error) {
    if (codeOf(error) === null) throw error;
    throw new Refusal(`${typed(path)} cannot be read: ${messageOf(error)}`, { code: "not-found" });
  }
  throw new Refusal(`there is no .json file in ${path}`, {
    code: "not-found",
    hint: "give a file, or the folder that has the files of this repository's runs",
  });
}

function readRun(file: string, text: string, { repoPath }: Project): Read {
  const run = readForeignRun(parse(text.replace(/^\ufeff/, "")), { repoPath });
  if (typeof run === "string") throw new Refusal(run);
  return { ...run, file };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(jsonText(JSON.parse(text)));
  } catch (error) {
    // What can be read so deep down cannot be written again.
    if (error instanceof RangeError) throw new Refusal("it is nested too deeply");
    throw new Refusal(`it is not JSON: ${messageOf(error)}`);
  }
}

/** What is known is not touched, not even by the question who works on its issues. */
async function takeOver(context: Context, place: Place, read: Read): Promise<Imported> {
  const { store, project, foreign } = place;
  const { file, run, issues, threshold, leftOut } = read;
  const record = { ...run, project_id: project.id };
  const statuses = new Map<string, ItemStatus | null>();
  for (const { issue_id } of foreign === null ? issues : []) {
    statuses.set(issue_id, (await store.workItems.get(project.id, issue_id))?.status ?? null);
  }
  // Nobody works on what is completed any more, so nobody would close what it is said to have open.
  const isDone = (issueId: string) => statuses.get(issueId) === "completed";
  const known = await store.findKnownRun(record);
  const { runId, isNew, findings } =
    known === null
      ? await store.importRun({
          ...{ record, threshold },
          issues: await prepareAll(context, place, { read, isDone }),
          importedAt: Date.now(),
        })
      : { runId: known, isNew: false, findings: {} as Readonly<Record<string, number | OnlyHistory>> };
  const told = issues.map(({ issue_id, status, last_review_issues }): Imported["issues"][number] => {
    const named = last_review_issues?.length ?? 0;
    const taken = findings[issue_id] ?? 0;
    const [opened, history] = typeof taken === "number" ? [taken, null] : [0, taken];
    const onlyRecord = isDone(issue_id) ? "completed" : history;
    return {
      ...{ issue_id, status },
      review_issues: isNew ? opened : named,
      on_board: foreign === null ? (statuses.get(issue_id) ?? null) !== null : null,
      only_record: isNew && (named > 0 || onlyRecord === "given-up") ? onlyRecord : null,
      left_out: leftOut.findings.get(issue_id) ?? 0,
    };
  });
  return { file, run_id: runId, result: isNew ? "imported" : "known", issues: told, left_out: leftOut.issues };
}

interface Preparing {
  readonly read: Read;
  readonly isDone: (issueId: string) => boolean;
}

/** All or nothing: of half a record, the other half could not be imported later. */
async function prepareAll(
  { app }: Context,
  { store, project }: Place,
  { read: { run, issues }, isDone }: Preparing,
): Promise<ImportedIssue[]> {
  for (const { issue_id } of issues) {
    // Its ledger is its driver's, now or when somebody goes on with it.
    const begun = await findBegun(store, project.id, issue_id);
    if (begun === null) continue;
    const left = `${inTheMiddle(begun.runId, issue_id).why}, ratchet run goes on with it`;
    const who = begun.alive ? `${issue_id} is being worked on by run ${begun.runId}` : left;
    throw new Refusal(`${who}: import it when that has ended`);
  }
  const folderOf = (issueId: string) => app.home.attempt(run.run_id, issueId, "import");
  const prepared = await Promise.all(issues.map((record) => prepare(record, folderOf(record.issue_id))));
  return prepared.map((issue) => (isDone(issue.record.issue_id) ? { ...issue, remarks: [] } : issue));
}

/** Long texts go to files, as everywhere; the ledger and the record refer to them. */
async function prepare(record: IssueRecord, folder: string): Promise<ImportedIssue> {
  const stored = record.last_review_issues;
  if (stored === null) return { record, remarks: [] };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const kept = stored.map(async (issue, index) => {
    const body = await keepText(issue.body, join(folder, `finding-${index + 1}.md`), inlineTextBytes);
    const remark: Remark = { ...issue, title: singleLine(issue.title), body };
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

const onlyRecord = {
  completed: "completed on the board",
  older: "older than what is known",
  "given-up": "from before it was begun afresh",
} as const;

function tell({ out }: Context, { imported, failed, foreign, json }: Outcome): void {
  if (json) {
    const message = failed.map((one) => `${one.file}: ${one.message}`).join("\n");
    const error = failed.length === 0 ? {} : { error: { code: "import-failed", message, hint: null } };
    out.json({ imported, failed, ...error });
    return;
  }
  for (const { run_id, result, issues, left_out } of imported) {
    if (result === "known") {
      out.line(`${run_id} is known already: nothing changed`);
      continue;
    }
    out.line(`${run_id} imported: ${plural(issues.length, "issue")}`);
    for (const issue of issues) out.line(`  ${issue.issue_id}: ${issue.status}${findingsOf(issue)}${reasonOf(issue)}`);
    if (left_out > 0) out.line(`  ${plural(left_out, "issue")} that cannot be read left out`);
  }
  if (foreign !== null && imported.some(({ result }) => result === "imported")) {
    out.line(`ratchet run --resume goes on with those that are open in ${foreignName(foreign)}`);
  }
  for (const { file, message } of failed) out.note(`ratchet: ${file} was not imported: ${message}`);
}

function findingsOf({ review_issues: kept, left_out }: Imported["issues"][number]): string {
  const told = kept === 0 ? [] : [plural(kept, "review finding")];
  const lost = kept === 0 ? plural(left_out, "review finding") : String(left_out);
  if (left_out > 0) told.push(`${lost} that cannot be read left out`);
  return told.map((words) => `, ${words}`).join("");
}

function reasonOf({ on_board, only_record }: Imported["issues"][number]): string {
  const why = on_board === false ? "not on the board" : only_record === null ? null : onlyRecord[only_record];
  return why === null ? "" : `, ${why}: only its record is kept`;
}
