import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import type { Store } from "../../app.js";
import { folderName } from "../../core/folder-name.js";
import { plainText } from "../../core/plain-text.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import type { Settings } from "../../core/settings.js";
import { codeOf, Refusal } from "../../lib/errors.js";
import { runLevel } from "../../lib/home.js";
import { shellWord } from "../../views/shell-word.js";
import { transcriptLines } from "../../views/transcript.js";
import { findRun } from "../board-scope.js";
import { type Context, knownProject } from "../context.js";
import { foreignTracker } from "../foreign-tracker.js";
import { typed } from "../typed.js";

interface Json {
  readonly json?: boolean;
}
export interface Which {
  readonly run: string;
  /** In a run of a workflow: one of its stages, or `_run` for all of them. */
  readonly issue: string;
  /** The number or name of the folder, of a workflow's stage `01/07` or its name; absent: the last that has such a file. */
  readonly nn: string | undefined;
}
type AttemptFile = "prompt.md" | "transcript.jsonl";
interface Attempt {
  readonly runId: string;
  readonly settings: Settings;
  readonly folder: string;
  readonly path: string;
}

/** Which there are, as `prompt` and `transcript` take them. */
export async function listAttempts(
  context: Context,
  which: Which,
  { json, file }: Json & { readonly file: AttemptFile },
): Promise<number> {
  const attempts = await attemptsOf(context, which, file);
  const { runId, folders } = attempts;
  if (folders.length === 0) throw await refusalOf(context, { issue: which.issue, nn: undefined, file }, attempts);
  if (json) context.out.json({ run_id: runId, issue_id: which.issue, folders });
  else for (const folder of folders) context.out.line(folder);
  return 0;
}

export async function showPrompt(context: Context, which: Which, { json }: Json): Promise<number> {
  const { runId, folder, path } = await findAttempt(context, which, "prompt.md");
  const text = await readFile(path, "utf8");
  if (json) context.out.json({ run_id: runId, issue_id: which.issue, folder, path, text });
  else context.out.text(text);
  return 0;
}

/** May be large: a line at a time. What the program streams is told in words, unless it is asked for as it is. */
export async function showTranscript(
  context: Context,
  which: Which,
  { json, raw }: Json & { readonly raw?: boolean },
): Promise<number> {
  const { app, out } = context;
  const { runId, folder, path, settings } = await findAttempt(context, which, "transcript.jsonl");
  const events = raw ? null : await app.transcript(settings, dirname(path));
  if (json) {
    const told: AgentEvent[] = [];
    for await (const event of events ?? []) told.push(event);
    const text = await readFile(path, "utf8");
    out.json({ run_id: runId, issue_id: which.issue, folder, path, text, ...(events ? { events: told } : {}) });
    return 0;
  }
  if (events) return await showEvents(context, events);
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  for await (const line of lines) {
    if (out.gone.aborted) break;
    // What a program printed may move the cursor or change the title of the terminal it ends up in, through a pipe, too.
    out.line(raw ? line : plainText(line));
  }
  return 0;
}

async function showEvents({ out }: Context, events: AsyncIterable<AgentEvent>): Promise<number> {
  for await (const event of events) {
    if (out.gone.aborted) break;
    for (const line of transcriptLines(event)) out.line(line);
  }
  return 0;
}

async function findAttempt(context: Context, { run, issue, nn }: Which, file: AttemptFile): Promise<Attempt> {
  const attempts = await attemptsOf(context, { run, issue }, file);
  const { runId, settings, root, folders } = attempts;
  const found = nn === undefined ? folders.at(-1) : folders.findLast((name) => isNamed(name, nn));
  if (found !== undefined) return { runId, settings, folder: found, path: join(root, found, file) };
  throw await refusalOf(context, { issue, nn, file }, attempts);
}

async function refusalOf(
  context: Context,
  { issue, nn, file }: Omit<Which, "run"> & { readonly file: AttemptFile },
  { runId, folders, others, isWorkflow }: Awaited<ReturnType<typeof attemptsOf>>,
): Promise<Refusal> {
  const isKnown = folders.length > 0 || isWorkflow || issue === runLevel;
  const unknown = isKnown ? null : await refusalOfUnknown(context, issue);
  if (unknown !== null) return unknown;
  const known = folders.length === 0 ? gotNone(others) : `there are ${folders.join(", ")}`;
  return new Refusal(`${issue} has no ${file}${nn === undefined ? "" : ` number ${nn}`} in run ${runId}: ${known}`, {
    code: "not-found",
    hint: `look into ${context.app.home.run(runId)}`,
  });
}

/** Nothing is there because nobody has worked on it, or because the runs are cleared away: said plainly. */
async function refusalOfUnknown(context: Context, issue: string): Promise<Refusal | null> {
  const store = await context.app.store("reader");
  const project = await knownProject(context, store);
  if (project === null || (await store.runsWith(project.id, issue)).length > 0) return null;
  const item = await store.workItems.get(project.id, issue);
  if (item === null && (await foreignTracker(context)) === null)
    return new Refusal(`no issue ${typed(issue)}`, { code: "not-found", hint: "ratchet work list --all" });
  const how = { code: "not-found", hint: `ratchet explain ${shellWord(issue)}` };
  // Only our own board has it written down that nobody ever had it.
  const events = item === null ? null : await store.workItems.events(project.id, issue);
  const isFresh = events?.every(({ type }) => type !== "claimed") ?? false;
  return new Refusal(isFresh ? `${typed(issue)} has not been worked on yet` : `no run of ${typed(issue)} is kept`, how);
}

/** `last` means the issue's: the newest run that has such a file of it, where the newest of all has none. */
async function attemptsOf(context: Context, { run, issue }: Omit<Which, "nn">, file: AttemptFile) {
  const store = await context.app.store("reader");
  const project = await knownProject(context, store);
  const newest = await attemptsIn(context, await findRun(context, store, run), { issue, file });
  if (run !== "last" || project === null || newest.folders.length > 0) return newest;
  for (const runId of await store.runsWith(project.id, issue)) {
    const found = await attemptsIn(context, await store.run(runId), { issue, file });
    if (found.folders.length > 0) return found;
  }
  return newest;
}

async function attemptsIn(
  { app }: Context,
  { runId, settings, options }: Awaited<ReturnType<Store["run"]>>,
  { issue, file }: { readonly issue: string; readonly file: string },
) {
  const isWorkflow = options.workflow !== undefined;
  const own = app.home.attempt(runId, issue, "");
  const ofIssue = isWorkflow ? [] : await foldersWith(own, file);
  const root = app.home.attempt(runId, null, "");
  if (!isWorkflow && (issue !== runLevel || ofIssue.length > 0))
    return { runId, settings, isWorkflow, root: own, folders: ofIssue, others: [] };
  const all = await foldersWith(root, file);
  if (issue === runLevel) return { runId, settings, isWorkflow, root, folders: all, others: [] };
  return { runId, settings, isWorkflow, root, folders: all.filter((folder) => isStage(folder, issue)), others: all };
}

/** `others`: the folders of the stages that got one. */
function gotNone(others: readonly string[]): string {
  const stages = [...new Set(others.map((folder) => withoutNumber(folder.split("/").at(-1) ?? "")))];
  if (stages.length === 0) return "it got none";
  const more = stages.length > 20 ? ` and ${stages.length - 20} more` : "";
  return `it got none; the stages that did are ${stages.slice(0, 20).join(", ")}${more}`;
}

/** Of a stage of this name, or of one that it called. */
function isStage(folder: string, stage: string): boolean {
  const name = folderName(stage);
  return folder.split("/").some((part) => withoutNumber(part) === name);
}

function withoutNumber(folder: string): string {
  return folder.replace(/^\d+-/, "");
}

/** Each part by number or name; what names a workflow's folder means the last of its stages. */
function isNamed(folder: string, nn: string): boolean {
  const parts = folder.split("/");
  if (!/^\d+$/.test(nn) && isStage(folder, nn)) return true;
  const asked = nn.split("/").filter((part) => part !== "");
  return (
    asked.length > 0 && asked.every((part, index) => parts[index] === part || sameNumber(parts[index] ?? "", part))
  );
}

function sameNumber(name: string, nn: string): boolean {
  return /^\d+$/.test(nn) && Number.parseInt(name, 10) === Number(nn);
}

/** Every program's own is beside what it was started with: a prompt without it is a workflow's goal, which nobody got. */
const startFile = "attempt.json";
/** Workflows call workflows, but not this deep. */
const deepest = 8;

/** In the order they were begun; the stages of a workflow within its folder. */
async function foldersWith(root: string, file: string, depth = 0): Promise<string[]> {
  const names = (await list(root)).sort(byNumber);
  const found = await Promise.all(
    names.map(async (name) => {
      const inside = await list(join(root, name));
      const own = inside.includes(file) && inside.includes(startFile) ? [name] : [];
      if (own.length > 0 || depth >= deepest) return own;
      const below = await foldersWith(join(root, name), file, depth + 1);
      return below.map((inner) => `${name}/${inner}`);
    }),
  );
  return found.flat();
}

/** Of an older version: a workflow that a stage called had no number. */
function byNumber(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => (/^\d/.test(name) ? Number.parseInt(name, 10) : Number.MAX_SAFE_INTEGER));
  return (a ?? 0) - (b ?? 0) || one.localeCompare(other);
}

async function list(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}
