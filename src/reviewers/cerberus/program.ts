import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { messageOf } from "../../lib/errors.js";
import { readForeignJson } from "../../lib/program-files.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { lastLine, readAnswer } from "./answer.js";
import { findingsIn, findingsOfReviewer, isBad, readGate, restOf, usageOf } from "./gate.js";
import { type Plan, planVariable, waits, waitTimeout } from "./plan.js";
import { runKeyIn, saysLeftOpen } from "./spawned.js";

/**
 * Cerberus starts a review and is asked for its end: two calls. This program makes them one, so that a review by
 * cerberus is a turn like every other: one process, one exit code, one result file. It exits 0 with a verdict only.
 * All calls together have the time of one review.
 */
async function main(): Promise<void> {
  const plan: Timed = { ...(JSON.parse(process.env[planVariable] ?? "null") as Plan), startedAt: Date.now() };
  mkdirSync(plan.folder, { recursive: true });
  const context = join(plan.folder, "context.md");
  await pipeline(process.stdin, createWriteStream(context));
  const key = await spawnReview(plan, [
    "--context-file",
    context,
    ...plan.spawnArgs,
    "--commit",
    ...(await commits(plan)),
  ]);
  const answer = await waitForReview(plan, key);
  writeResult(await resultOf(answer, join(plan.folder, projectKey, key)));
}

const projectKey = "ratchet";
const ownKey = "review";

class Ended extends Error {}

interface Timed extends Plan {
  readonly startedAt: number;
}

function secondsLeft({ startedAt, timeoutSeconds }: Timed): number {
  return Math.max(0, timeoutSeconds - (Date.now() - startedAt) / 1000);
}

/** Oldest first: how the change came about. */
async function commits(plan: Timed): Promise<string[]> {
  const { RATCHET_BASE_SHA: base = "", RATCHET_HEAD_SHA: head = "" } = process.env;
  const { code, stdout, stderr } = await run(
    "git",
    ["rev-list", "--reverse", `${base}..${head}`, "--"],
    secondsLeft(plan),
  );
  if (code !== 0) throw new Ended(`the commits under review cannot be listed: ${stderr.trim()}`);
  const list = stdout.split("\n").filter((line) => line !== "");
  if (list.length === 0) throw new Ended(`there is no commit between ${base} and ${head}`);
  return list;
}

/** A review that an earlier one left open in the same place is put away, once. The key of the run it started. */
async function spawnReview(plan: Timed, args: readonly string[]): Promise<string> {
  for (let cleared = false; ; cleared = true) {
    const { code, stdout, stderr } = await cerberus(["spawn-code-review", ...args], plan);
    const said = `${stderr}\n${stdout}`;
    if (code === 0) return runKeyIn({ stdout, stderr }) ?? ownKey;
    if (cleared || !saysLeftOpen(said)) {
      throw new Ended(`cerberus spawn-code-review ${howItEnded(code, plan.timeoutSeconds)}: ${lastLine(said)}`);
    }
    const reason = "ratchet: a review that was left open";
    const resolved = await cerberus(["resolve", "--reason", reason], plan);
    if (resolved.code !== 0) {
      throw new Ended(
        `cerberus resolve ${howItEnded(resolved.code, plan.timeoutSeconds)}: ${lastLine(resolved.stderr)}`,
      );
    }
  }
}

async function waitForReview(plan: Timed, key: string): Promise<unknown> {
  const { code, stdout, stderr } = await askFor(plan, key);
  if (code === late) throw new Ended(`cerberus gave no verdict within ${plan.timeoutSeconds} s`);
  if (code === outOfTime) throw new Ended(`cerberus gave no verdict in the time it was told to wait, ${waits} times`);
  if (code !== 0) throw new Ended(`cerberus wait failed (exit code ${code}): ${lastLine(`${stdout}\n${stderr}`)}`);
  const read = readAnswer(stdout);
  if ("reason" in read) throw new Ended(read.reason);
  return read.answer;
}

async function askFor(plan: Timed, key: string): Promise<Output> {
  for (let wait = 1; ; wait++) {
    const left = String(Math.max(1, Math.ceil(secondsLeft(plan))));
    const timeout = waitTimeout(plan.waitArgs) === null ? ["--timeout", left] : [];
    const args = ["wait", "--json", "--finalize", "--session-key", key, ...timeout, ...plan.waitArgs];
    const answer = await cerberus(args, plan);
    if (answer.code !== outOfTime) return answer;
    if (secondsLeft(plan) === 0) return { ...answer, code: late };
    if (wait >= waits) return answer;
    process.stderr.write("cerberus is not done: asked for its verdict again\n");
  }
}

async function resultOf(answer: unknown, runFolder: string): Promise<Record<string, unknown>> {
  const gate = readGate(answer);
  if (gate.type === "none") throw new Ended(gate.reason);
  const outputs = await outputsOnDisk(runFolder, gate.iteration);
  const findings = [...findingsIn(answer), ...outputs.flatMap(({ findings }) => findings)];
  if (gate.type === "undecided" && !findings.some(isBad)) throw new Ended(gate.reason);
  const rests = outputs.map(({ path, rest }) => [path, rest] as const);
  const usage = usageOf(await readForeignJson(join(runFolder, "run-telemetry.json")));
  const verdict = gate.type === "undecided" ? "fail" : gate.verdict;
  return { ...restOf(answer), ...Object.fromEntries(rests), session_id: null, usage, verdict, findings };
}

/** What one of the reviewers said. */
interface ReviewerOutput {
  readonly path: string;
  readonly findings: readonly unknown[];
  readonly rest: Readonly<Record<string, unknown>>;
}

/** iterations/<n>/round-<m>/reviewers/<who>/output.json: the last round of the last iteration counts. */
async function outputsOnDisk(runFolder: string, iteration: number): Promise<ReviewerOutput[]> {
  const iterations = join(runFolder, "iterations");
  const last = numbered(iterations, /^(\d+)$/).find(({ number }) => iteration === 0 || number <= iteration);
  if (last === undefined) return [];
  const round = numbered(join(iterations, last.name), /^round-(\d+)$/)[0];
  if (round === undefined) return [];
  const folder = join(iterations, last.name, round.name, "reviewers");
  const outputs: ReviewerOutput[] = [];
  for (const who of namesIn(folder).sort()) {
    // One that failed has left none; that cerberus came to a verdict without it is in the verdict.
    if (!existsSync(join(folder, who, "output.json"))) continue;
    const output = await readForeignJson(join(folder, who, "output.json"));
    const findings = findingsOfReviewer(output, who);
    if (findings === null) throw new Ended(`the findings of ${who} cannot be read`);
    outputs.push({ path: `${who}/output.json`, findings, rest: restOf(output) });
  }
  return outputs;
}

/** The highest number first. */
function numbered(folder: string, shape: RegExp): { readonly name: string; readonly number: number }[] {
  return namesIn(folder)
    .flatMap((name) => {
      const number = shape.exec(name)?.[1];
      return number === undefined ? [] : [{ name, number: Number(number) }];
    })
    .sort((one, other) => other.number - one.number);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A cerberus that keeps nothing there has nothing more to tell.
    return [];
  }
}

/** Whole or not at all: the reader may come while this process is being ended. */
function writeResult(result: Readonly<Record<string, unknown>>): void {
  const path = process.env.RATCHET_RESULT_FILE ?? "";
  writeFileSync(`${path}.new`, JSON.stringify(result));
  renameSync(`${path}.new`, path);
}

interface Output {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
const late = -1;
/** Of `cerberus wait`. */
const outOfTime = 3;

function howItEnded(code: number, seconds: number): string {
  return code === late ? `did not end within ${seconds} s` : `failed (exit code ${code})`;
}

/** Its state is this attempt's alone; the transcript shows what was called and what it printed. */
async function cerberus(args: readonly string[], plan: Timed): Promise<Output> {
  const { folder } = plan;
  const state = { CERBERUS_STATE_ROOT: folder, CERBERUS_PROJECT_KEY: projectKey, CERBERUS_RUN_KEY: ownKey };
  process.stdout.write(`$ cerberus ${args.join(" ")}\n`);
  const output = await run("cerberus", args, secondsLeft(plan), { CERBERUS_HOST: "generic", ...process.env, ...state });
  process.stdout.write(output.stdout);
  process.stderr.write(output.stderr);
  return output;
}

/** What runs at the moment: ended with us. */
let current: ChildProcess | null = null;

function run(program: string, args: readonly string[], seconds: number, env = process.env): Promise<Output> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    current = child;
    const [output, errors]: [Buffer[], Buffer[]] = [[], []];
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, seconds * 1000);
    const settle = (code: number | null): void => {
      clearTimeout(timer);
      const [stdout, stderr] = [Buffer.concat(output).toString("utf8"), Buffer.concat(errors).toString("utf8")];
      resolve({ code: isLate ? late : (code ?? 1), stdout, stderr });
    };
    child.once("error", (error) => reject(new Ended(`${program} cannot be started: ${messageOf(error)}`)));
    child.once("close", settle);
    // The reviewers it leaves in the background may keep the pipes open: its exit counts, not their end.
    child.once("exit", (code) => setTimeout(() => settle(code), 1000));
  });
}

process.once("SIGTERM", () => {
  current?.kill("SIGTERM");
  process.exit(143);
});
runToEnd(async () => {
  try {
    await main();
  } catch (error) {
    process.stderr.write(`${error instanceof Ended ? error.message : messageOf(error)}\n`);
    process.exitCode = 1;
  }
  // Pipes that others still hold open would keep this process alive.
  process.exit();
});
