import { execFile } from "node:child_process";
import { access, constants, statfs } from "node:fs/promises";
import { cpus, freemem } from "node:os";
import { promisify } from "node:util";
import { formatDiagnostic } from "../../config/diagnostic.js";
import { loadConfig } from "../../config/load.js";
import { reviewerSource } from "../../config/reviewer.js";
import type { Settings } from "../../core/settings.js";
import { codeOf, ExternalError, messageOf, Refusal, UserError } from "../../lib/errors.js";
import { findExecutable } from "../../lib/executable.js";
import { requirePlaces } from "../../lib/home-places.js";
import { type Check, isOldGit, leastGit, programCheck, renderChecks, tellOnce } from "../../views/doctor.js";
import { begunWork, mirrorAdvice, tellLost } from "../../views/mirror-advice.js";
import { toUntold, type UntoldJson, untoldLines } from "../../views/untold.js";
import { openTracker } from "../asked-tracker.js";
import { type Context, findRoot, knownProject } from "../context.js";
import { commandFiles, setupFiles } from "./command-files.js";

/** Looks at everything a run needs, one thing at a time: what is missing does not hide the rest. */
export async function examine(
  context: Context,
  { json, call = false }: { readonly json?: boolean; readonly call?: boolean },
): Promise<number> {
  const { settings, check: configuration } = await checkConfiguration(context);
  const home = await checkHome(context);
  const repository = await checkRepository(context);
  const untold = await checkUntold(context);
  const looked = [
    await checkGit(context),
    repository,
    configuration,
    ...(await checkPrompts(context)),
    ...(settings === null || !repository.ok ? [] : await checkTarget(context, settings)),
    ...(settings === null ? [] : await checkPrograms(context, settings, call)),
    ...otherAgents(context, settings),
    ...(settings === null ? [] : [await checkTracker(context, settings)]),
    ...untold.checks,
    ...(settings === null ? [] : await checkForge(context, settings)),
    home,
    await checkDatabase(context),
    ...(home.ok ? [await checkDisk(context)] : []),
    ...(await checkMirror(context)),
    ...(await checkJournals(context)),
  ];
  const checks = tellOnce(looked, home.ok ? "database" : home.name);
  if (json) context.out.json({ checks, untold: untold.untold });
  else for (const line of renderChecks(checks)) context.out.line(line);
  return checks.every(({ ok }) => ok) ? 0 : 1;
}

function there(name: string, detail: string): Check {
  return { name, ok: true, detail, advice: null };
}

/** Expected bad news becomes a check; a mistake of our own is still told as one. */
async function attempt(name: string, advice: string, look: () => Promise<Check>): Promise<Check> {
  try {
    return await look();
  } catch (error) {
    const isExpected = error instanceof UserError || error instanceof Refusal || error instanceof ExternalError;
    if (!isExpected && codeOf(error) === null) throw error;
    const hint = isExpected ? error.hint : null;
    return { name, ok: false, detail: messageOf(error), advice: hint ?? advice };
  }
}

function checkGit({ env }: Context): Promise<Check> {
  const advice = `install git ${leastGit} or newer`;
  return attempt("git", advice, async () => {
    const { stdout } = await promisify(execFile)("git", ["--version"], { env, timeout: 10_000 }).catch((error) => {
      if (codeOf(error) === "ENOENT") throw new UserError("git is not on PATH", { hint: advice, cause: error });
      // Its own settings can be such that it does nothing at all.
      const hint = "put right what `git --version` complains about";
      throw new ExternalError("git", messageOf(error).trim(), { hint, cause: error });
    });
    const detail = stdout.trim();
    return isOldGit(detail) ? { name: "git", ok: false, detail, advice } : there("git", detail);
  });
}

function checkRepository({ app }: Context): Promise<Check> {
  return attempt("repository", "change to a git repository with a commit", async () => {
    const { root, branch } = await app.repository();
    return there("repository", `${root}, ${branch === null ? "detached" : `on ${branch}`}`);
  });
}

interface Configuration {
  readonly settings: Settings | null;
  readonly check: Check;
}

async function checkConfiguration({ cwd, env }: Context): Promise<Configuration> {
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const loaded = await loadConfig({ dir: findRoot(cwd) ?? cwd, env, flags: {}, machine });
  const name = "configuration";
  if (loaded.ok) {
    const count = loaded.warnings.length;
    const warnings = count === 0 ? "" : `, ${count} remark${count === 1 ? "" : "s"}: ratchet config check`;
    return { settings: loaded.settings, check: there(name, `${loaded.file}${warnings}`) };
  }
  const [first] = loaded.diagnostics;
  const more = loaded.diagnostics.length - 1;
  const detail = `${first ? formatDiagnostic(first).split("\n")[0] : ""}${more > 0 ? ` (and ${more} more)` : ""}`;
  const advice = loaded.file === null ? "ratchet init writes one" : "ratchet config check lists every mistake";
  return { settings: null, check: { name, ok: false, detail, advice } };
}

/** Only where something is to be said of the project's own. */
async function checkPrompts({ app, cwd }: Context): Promise<Check[]> {
  const found = await app.checkPrompts(findRoot(cwd) ?? cwd);
  return found.map(({ severity, file, message, hint }) => {
    const advice = hint ?? "a run refuses it: use the names that it has, or delete the file";
    return { name: "prompts", ok: severity !== "error", detail: `${file}: ${message}`, advice };
  });
}

/** Where work would land; and what is called in a worktree has to be there, so on that branch. */
async function checkTarget({ app }: Context, settings: Settings): Promise<Check[]> {
  const target = await attempt("target", "see finalize.into in ratchet.yaml", async () =>
    there("target", await app.target(settings)),
  );
  if (!target.ok) return [target];
  const files = await attempt("command", "see the commands in ratchet.yaml", async () => {
    const missing = await app.filesNotOnTarget(settings, { paths: commandFiles(settings, await app.root()) });
    return missing.length === 0 ? there("command", "") : notCommitted("command", missing, target.detail);
  });
  const setup = await attempt("setup", "see commands.setup in ratchet.yaml", async () => {
    const groups = setupFiles(settings, await app.root());
    const missing = await app.filesNotOnTarget(settings, { paths: groups.flat(), forSetup: true });
    const needed = groups.filter((files) => files.every((file) => missing.includes(file))).flat();
    return needed.length === 0 ? there("setup", "") : notCommitted("setup", needed, target.detail);
  });
  const notCopied = await app.notCopied(settings);
  // What not everybody has may be named: no worktree needs it then.
  const copies =
    notCopied === null ? [] : [{ ...there("copy", notCopied), advice: "see worktree.copy in ratchet.yaml" }];
  return [target, ...[files, setup].filter(({ ok }) => !ok), ...copies];
}

function notCommitted(name: string, files: readonly string[], target: string): Check {
  const names = files.join(", ");
  const detail = `not committed on ${target}, so in no worktree: ${names}`;
  return { name, ok: false, detail, advice: `commit ${names}, or name it in worktree.copy` };
}

async function checkPrograms({ app, cwd }: Context, settings: Settings, call: boolean): Promise<Check[]> {
  const dir = findRoot(cwd) ?? cwd;
  const programs = await app.programs(settings);
  const checks = await Promise.all(
    programs.map(async ({ name, program }): Promise<Check[]> => {
      const missing = await program.check(dir);
      if (missing !== null) return [{ name, ok: false, detail: missing.message, advice: missing.hint }];
      const status = await program.status?.(dir);
      const check = programCheck({ name, kind: nameOf(name, program.kind, settings) }, status);
      if (!call || !check.ok || program.kind === "cerberus") return [check];
      const { ok, detail } = await app.tryProgram(program, settings);
      const advice = ok ? null : `see what it says: ${program.kind} is called as a run would call it`;
      return [check, { name: `${name}, called`, ok, detail, advice }];
    }),
  );
  return programs.length > 1 ? checks.flat() : [...checks.flat(), there("reviewer", "no review is enabled")];
}

/** Agents that could be chosen as well: looked for on PATH, not asked. */
function otherAgents({ env, cwd }: Context, settings: Settings | null): Check[] {
  const used = settings === null ? [] : agentsIn(settings);
  const here = ["claude", "codex", "pi"].filter(
    (agent) => !used.includes(agent) && findExecutable(agent, env.PATH ?? "", cwd).state === "found",
  );
  return here.length === 0 ? [] : [there("also here", `other agents here: ${here.join(", ")}`)];
}

function agentsIn(settings: Settings): string[] {
  const { type, fallback } = settings.agent;
  const { section, reviewer } = reviewerSource(settings);
  const slots = reviewer.reviewer_type === "panel" ? reviewer.panel : [reviewer];
  const reviewing = section === "default" ? [] : slots.filter((slot) => slot.reviewer_type === "agent_sdk");
  // Without a word of its own agent_sdk is claude.
  const reviewers = reviewing.map(({ agent_sdk_agent }) => agent_sdk_agent?.type ?? "claude");
  return [type, ...(fallback ? [fallback.type] : []), ...reviewers];
}

function nameOf(name: string, kind: string, { agent }: Settings): string {
  return name === "agent" && kind === "command" ? `command: ${agent.command[0] ?? ""}` : kind;
}

function checkTracker(context: Context, settings: Settings): Promise<Check> {
  return attempt("tracker", "see tracker in ratchet.yaml", async () => {
    const { cwd } = context;
    const tracker = await openTracker(context, settings, { folder: findRoot(cwd) ?? cwd });
    const ready = await tracker.ready({ scope: { type: "all" }, resume: false, limit: 1 });
    return there("tracker", `${tracker.kind}, ${ready.length === 0 ? "nothing is ready" : "issues are ready"}`);
  });
}

/** Only where there is something. Nothing is missing for that: the next run tells it. */
async function checkUntold(context: Context): Promise<{ readonly untold: UntoldJson[]; readonly checks: Check[] }> {
  const { app } = context;
  const untold: UntoldJson[] = [];
  const check = await attempt("not told", `look at ${app.home.database}`, async () => {
    const project = await knownProject(context, await app.store());
    if (project !== null) untold.push(...(await app.owed(project.id)).map(toUntold));
    return there("not told", untoldLines(untold).join("; "));
  });
  return { untold, checks: check.ok && untold.length === 0 ? [] : [check] };
}

/** Only where work goes into pull requests, or issues come from there. */
async function checkForge({ app, cwd }: Context, settings: Settings): Promise<Check[]> {
  const name = "forge";
  const isUsed = settings.finalize.mode === "pr";
  if (!isUsed && settings.tracker.type !== "github") return [];
  if (isUsed && settings.forge.type === "memory") return [there(name, "pull requests in a file of the state home")];
  const check = await attempt(name, "see forge in ratchet.yaml", async () => {
    const { repo, apiUrl, token, login, mayPush, problems } = await app.forgeStatus(settings, findRoot(cwd) ?? cwd);
    const [first] = problems;
    if (first) return { name, ok: false, detail: first.message, advice: first.hint ?? "see docs/pull-requests.md" };
    const push = mayPush === null ? "" : ", may push";
    return there(name, `${repo} at ${apiUrl}, as ${login} (token from ${token})${push}`);
  });
  return [check];
}

function checkHome(context: Context): Promise<Check> {
  const { app } = context;
  const { root } = app.home;
  return attempt("state home", `make ${root} writable, or set RATCHET_HOME to another folder`, async () => {
    // Opening the store makes the folder where it is missing.
    const failed: unknown = await app.store().then(
      () => null,
      (error) => error,
    );
    // What is wrong with the database alone is told of it.
    await access(`${root}/`, constants.W_OK | constants.X_OK).catch((error) => Promise.reject(failed ?? error));
    if (failed instanceof ExternalError && failed.what === "state home") throw failed;
    const project = failed === null ? await knownProject(context, await app.store()) : null;
    requirePlaces(app.home, project?.id);
    return there("state home", root);
  });
}

function checkDatabase({ app }: Context): Promise<Check> {
  return attempt("database", `look at ${app.home.database}`, async () => {
    const projects = await (await app.store()).projects();
    return there("database", `${projects.length} project${projects.length === 1 ? "" : "s"}`);
  });
}

/** Below this a run is likely to end in the middle. */
const leastFreeBytes = 500e6;

function checkDisk({ app }: Context): Promise<Check> {
  const advice = "make room: worktrees and logs need it";
  return attempt("disk", advice, async () => {
    const { bavail, bsize } = await statfs(app.home.root);
    const free = bavail * bsize;
    const detail = `${(free / 1e9).toFixed(1)} GB free`;
    return free < leastFreeBytes ? { name: "disk", ok: false, detail, advice } : there("disk", detail);
  });
}

/** Only where there is one, or should be. */
async function checkMirror(context: Context): Promise<Check[]> {
  const name = "mirror";
  let isNeeded = true;
  const check = await attempt(name, "put right what git complains about: the mirror itself may be whole", async () => {
    const project = await knownProject(context, await context.app.store());
    const found = project && (await context.app.lookAtMirror(project.id, { thorough: true }));
    const lost = project && !found ? await workWithoutMirror(context, project.id) : [];
    isNeeded = found !== null || lost.length > 0;
    if (project && lost.length > 0) return { name, ok: false, ...tellLost(context.app.home.mirror(project.id), lost) };
    if (!found?.trouble) return there(name, found?.path ?? "");
    return { name, ok: false, detail: found.trouble, advice: mirrorAdvice };
  });
  return isNeeded ? [check] : [];
}

/** The issues whose work was in a mirror and worktrees that are gone, as the newest runs know them. */
async function workWithoutMirror({ app }: Context, projectId: string): Promise<string[]> {
  const store = await app.store();
  const runs = await store.runs(projectId, 20);
  const records = (await Promise.all(runs.map(({ runId }) => store.issueRecords(runId)))).flat();
  const begun = begunWork(records, app.home.root);
  const items = await Promise.all(begun.map((issueId) => store.workItems.get(projectId, issueId)));
  return begun.filter((_, at) => items[at]?.status !== "completed");
}

/** A sample: the newest run that has ended. */
async function checkJournals({ app }: Context): Promise<Check[]> {
  const name = "journal";
  const check = await attempt(name, `look at ${app.home.database}`, async () => {
    const store = await app.store();
    const unfinished = new Set((await store.unfinishedRuns(null)).map(({ run }) => run.runId));
    const ended = (await store.runs(null, 20)).filter(({ runId }) => !unfinished.has(runId));
    const run = ended.find(({ options }) => options.workflow === undefined);
    if (run === undefined) {
      const workflows = "only workflows have ended lately, and their history is not checked";
      return there(name, ended.length === 0 ? "no run has ended yet" : workflows);
    }
    const found = await app.checkJournal(run);
    if (found === null) {
      const { version } = run.record;
      return there(
        name,
        `run ${run.runId} was made by ${version === "" ? "an unnamed version" : `version ${version}`}`,
      );
    }
    const detail = `run ${run.runId}: the history of ${found.machines} machines gives what is stored`;
    if (found.different.length === 0) return there(name, detail);
    const advice = "this is a mistake in Ratchet: please report it; results already recorded are not affected";
    const wrong = `run ${run.runId}: the history of ${found.different.join(", ")} does not give what is stored`;
    return { name, ok: false, detail: wrong, advice };
  });
  return [check];
}
