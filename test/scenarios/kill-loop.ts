import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import type { IssueRecord, RunRecord } from "../../src/core/record.js";
import { type Ended, type Sandbox, until } from "./sandbox.js";

export type Chance = () => number;

/** The same numbers for the same seed (mulberry32), so that a bad run can be had again. */
export function chance(seed: number): Chance {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A seed is given to have a bad run again: SEED=123 npx vitest run … */
export function freshSeed(): number {
  return Number(process.env.SEED ?? Date.now() % 1_000_000);
}

export interface KillLoop {
  readonly kills: number;
  readonly last: Ended;
  readonly printed: string;
}

/**
 * Starts `ratchet run` and kills it at a random moment, until it has been killed `most` times or a start came to its end.
 * Half of the kills come by the clock, half within milliseconds of a recorded event, where the boundaries are.
 */
export async function killUntilDone(box: Sandbox, random: Chance, most: number): Promise<KillLoop> {
  let printed = "";
  for (let kills = 0; ; kills++) {
    const run = box.start(["run", "--json"]);
    if (kills < most) {
      await Promise.race([moment(run.onLine, random), run.ended]);
      if (!run.isEnded()) run.kill("SIGKILL");
    }
    const last = await run.ended;
    printed += last.stdout;
    if (last.code !== null) return { kills, last, printed };
  }
}

async function moment(onLine: (listen: (line: string) => void) => void, random: Chance): Promise<void> {
  if (random() < 0.5) return await delay(60 + random() * 800);
  const wanted = 1 + Math.floor(random() * 9);
  await new Promise<void>((resolve) => {
    let seen = 0;
    onLine(() => {
      if (++seen === wanted) resolve();
    });
  });
  await delay(random() * 20);
}

interface Outcome {
  readonly exitCode: number | null;
  readonly tree: string;
  readonly subjects: readonly string[];
  readonly patches: readonly string[];
  readonly issues: Readonly<Record<string, unknown>>;
  readonly findings: readonly string[];
  readonly board: readonly string[];
}

/** What a run came to, without what differs between any two runs: times, shas, the order of landing. */
export async function outcomeOf(box: Sandbox): Promise<Outcome> {
  const { issues, exit_code } = await recordOfOnly(box);
  const findings: Record<string, unknown>[] = JSON.parse(await box.quick("findings", "--all", "--json"));
  const board: { id: string; status: string; failure_count: number }[] = JSON.parse(
    await box.quick("work", "list", "--all", "--json"),
  );
  const log = (format: string) => box.git("log", "--no-merges", `--format=${format}`, "main").split("\n").sort();
  return {
    exitCode: exit_code,
    tree: box.git("rev-parse", "main^{tree}"),
    subjects: log("%s"),
    patches: patchesOf(box),
    issues: Object.fromEntries(Object.entries(issues).map(([id, issue]) => [id, comparable(issue)])),
    findings: findings.map((one) => JSON.stringify(comparableFinding(one))).sort(),
    board: board.map(({ id, status, failure_count }) => `${id} ${status} ${failure_count}`).sort(),
  };
}

/** A kill may come after a run's last event, before its process ended; each start after that finds nothing to do. */
async function recordOfOnly(box: Sandbox): Promise<RunRecord> {
  const runs: { run_id: string }[] = JSON.parse(await box.quick("logs", "list", "--json"));
  const [first, ...later] = await Promise.all(runs.reverse().map(({ run_id }) => box.record(run_id)));
  expect(later.map(({ issues, exit_code }) => ({ issues, exit_code }))).toEqual(
    later.map(() => ({ issues: {}, exit_code: 0 })),
  );
  if (!first) throw new Error("there was no run");
  return first;
}

function patchesOf(box: Sandbox): string[] {
  const hashes = box.git("log", "--no-merges", "--format=%H", "main").split("\n");
  return hashes.map((hash) => box.git("show", "--format=%s", "--no-color", hash)).sort();
}

function comparable(issue: IssueRecord): unknown {
  const { status, message, error, gate_attempts, review_attempts, session_end_attempts, usage } = issue;
  const { evidence_check, last_review_issues, findings, resolution, branch } = issue;
  const counters = { gate_attempts, review_attempts, session_end_attempts, usage };
  const session = issue.session_id?.replace(/^[0-9a-f-]{36}$/, "by chance") ?? null;
  return {
    status,
    message,
    error,
    session,
    counters,
    evidence_check,
    last_review_issues,
    findings,
    resolution,
    branch,
  };
}

function comparableFinding(finding: Record<string, unknown>): unknown {
  const names = [
    "id",
    "issue_id",
    "source",
    "stage",
    "reviewers",
    "file",
    "line_start",
    "line_end",
    "priority",
    "title",
  ];
  const kept = [...names, "status", "visit", "outcome"];
  return Object.fromEntries(kept.map((name) => [name, finding[name]]));
}

/** Every started agent wrote "issue kind folder" into `log`: no folder may be there twice. */
export function expectOneStartPerAttempt(log: string): void {
  const folders = log.split("\n").flatMap((line) => (line === "" ? [] : [line.split(" ").at(-1) ?? ""]));
  expect(folders.filter((folder, at) => folders.indexOf(folder) !== at)).toEqual([]);
  expect(folders.length).toBeGreaterThan(0);
}

/** What all starts of a run printed together is one story: no event twice, none out of order. */
export function expectOneStory(printed: string): void {
  const lines = printed.split("\n").filter((line) => line !== "" && line.endsWith("}"));
  const events: { seq: number; run_id: string }[] = lines.map((line) => JSON.parse(line));
  const seqs = events.filter(({ run_id }) => run_id === events[0]?.run_id).map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
  expect(seqs.length).toBeGreaterThan(0);
}

/** No process, no worktree but those of `kept`, no lock. */
export async function expectNothingLeft(box: Sandbox, kept: readonly string[] = []): Promise<void> {
  await until("every process of the run to be gone", () => box.processes().length === 0, 10_000).catch(() => undefined);
  expect(box.processes()).toEqual([]);
  expect(checkoutsOf(box), checkoutsOf(box).join(" ")).toEqual([...kept, ...kept].sort());
  const locks = [box.home, join(box.dir, ".git")].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.lock$|(^|\/)locks\/.+/.test(name)),
  );
  expect(locks).toEqual([]);
}

/** What is there of issues' checkouts: their files, and their git folders in the mirror. */
function checkoutsOf({ home }: Sandbox): string[] {
  const names = (folder: string) => (existsSync(join(home, folder)) ? readdirSync(join(home, folder)) : []);
  const trees = names("worktrees/shop").filter((name) => name !== ".checkouts");
  const gits = names("repos/shop.git/checkouts").map((name) => name.replace(/-[0-9a-f]+$/, ""));
  return [...trees, ...gits].sort();
}
