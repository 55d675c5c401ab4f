import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { countedFrom } from "../../core/budget.js";
import { type Dossier, type DossierAttempt, renderDossier } from "../../core/dossier.js";
import { toFindingJson } from "../../core/finding-json.js";
import type { DossierEffect } from "../../core/issue/effects.js";
import type { IssueEvent } from "../../core/issue/events.js";
import { reviewRounds } from "../../core/issue/policy.js";
import { openFindings } from "../../core/ledger/ledger.js";
import { wordsOf } from "../../core/ledger/words.js";
import type { Settled } from "../../durable/types.js";
import { messageOf } from "../../lib/errors.js";
import { exists, readJson, writeDurably } from "../../lib/files.js";
import { jsonText } from "../../lib/json-text.js";
import { readAllKept } from "../../lib/long-text.js";
import { attemptOf, readExit } from "../../lib/process/attempt.js";
import { attemptFolder, type LifeContext, worktreePath } from "../context.js";
import { openWorktrees } from "../worktrees.js";

/** The JSON is written last: where this life's is there, everything is. */
export async function performDossier(life: LifeContext, effect: DossierEffect): Promise<Settled<IssueEvent>> {
  const folder = attemptFolder(life, "");
  const [path, json] = [join(folder, "dossier.md"), join(folder, "dossier.json")];
  try {
    const there = await readJson(json);
    if (!isOfLife(there, life.state().life)) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const dossier = await collect(life, effect.reason, folder);
      await writeDurably(path, renderDossier(dossier));
      await writeDurably(json, `${jsonText(dossier, 2)}\n`);
    }
    return { event: { type: "dossier-written", key: effect.key, path } };
  } catch (error) {
    return { event: { type: "dossier-written", key: effect.key, path: null, reason: messageOf(error) } };
  }
}

function isOfLife(found: unknown, life: number): boolean {
  return typeof found === "object" && found !== null && "life" in found && found.life === life;
}

async function collect(life: LifeContext, reason: string, folder: string): Promise<Dossier> {
  const { run, issueId, title } = life;
  const state = life.state();
  const attempts = await readAttempts(folder);
  const record = await run.history.record(issueId);
  const open = openFindings(life.ledger(), { defects: true });
  const wholeOf = await readAllKept(open.flatMap(wordsOf).map(({ body }) => body));
  const usage = record?.usage ?? { input_tokens: 0, output_tokens: 0, cost_usd: null };
  return {
    issue_id: issueId,
    title,
    run_id: run.runId,
    life: state.life,
    reason,
    counters: { gate: state.gate.runs, review: reviewRounds(state.review), session_end: state.sessionEndRuns },
    attempts,
    open_findings: open.map((finding) => toFindingJson(finding, wholeOf)),
    diff_path: await writeDiff(life, join(folder, "dossier.diff")),
    prompts: attempts.map((attempt) => join(folder, attempt.folder, "prompt.md")),
    cost: { ...usage, minutes: (run.clock.now() - countedFrom(state)) / 60_000 },
    worktree_path: worktreePath(life),
    branch: life.names.branch,
  };
}

/** Only turns are attempts; gates and other commands are told by their counters and findings. A turn that is a workflow is told by its stages'. */
async function readAttempts(folder: string, within = ""): Promise<readonly DossierAttempt[]> {
  const entries = await readdir(join(folder, within), { withFileTypes: true });
  const names = entries.filter((one) => one.isDirectory() && /^\d+-/.test(one.name)).map(({ name }) => name);
  const found: DossierAttempt[] = [];
  for (const name of names.sort(byNumber)) {
    const path = join(within, name);
    if (!(await exists(join(folder, path, "attempt.json")))) found.push(...(await readAttempts(folder, path)));
    else if (await exists(join(folder, path, "prompt.md"))) found.push(await readAttempt(join(folder, path), path));
  }
  return found;
}

async function readAttempt(folder: string, name: string): Promise<DossierAttempt> {
  const { effect } = fields(await readJson(join(folder, "attempt.json")));
  const { role, prompt, attempt, maxAttempts } = fields(effect);
  return {
    folder: name,
    role: typeof role === "string" ? role : "unknown",
    kind: typeof prompt === "string" ? prompt : "unknown",
    attempt: typeof attempt === "number" ? attempt : 0,
    max_attempts: typeof maxAttempts === "number" ? maxAttempts : 0,
    exit_code: readExit(attemptOf(folder)),
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function byNumber(one: string, other: string): number {
  return Number.parseInt(one, 10) - Number.parseInt(other, 10);
}

async function writeDiff(life: LifeContext, path: string): Promise<string | null> {
  const { home, projectId, repoPath, warn: tell } = life.run;
  const { unmerged, reviewBase, baseSha } = life.state();
  const bases = [unmerged ?? "", reviewBase, baseSha].filter((base) => base !== "");
  const found = await openWorktrees({ home, projectId, repoPath, tell }).diff(life.issueId, { bases, head: null });
  if (found === null || found.patch.length === 0) return null;
  await writeDurably(path, found.patch);
  return path;
}
