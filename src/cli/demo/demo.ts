import { Refusal } from "../../lib/errors.js";
import { findExecutable } from "../../lib/executable.js";
import { isSameFile } from "../../lib/files.js";
import { shellWord } from "../../lib/quoted.js";
import { emptySummary, foldSummary, renderSummary } from "../../views/summary.js";
import { type Context, createContext } from "../context.js";
import { runIssues } from "../run/command.js";
import { type DemoFolder, makeDemoFolder, markEnded, tidyOldDemos } from "./folder.js";
import { demoEnvironment, git, makeSampleRepository, runTests, type TestResult } from "./repository.js";
import { sampleIssues } from "./sample.js";

interface DemoOptions {
  readonly dir?: string;
  readonly keep?: boolean;
}

/** The whole loop on a sample repository, through the same code as `ratchet run`. Exit 0: all of it really landed. */
export async function runDemo({ cwd, env, out }: Context, options: DemoOptions): Promise<number> {
  await tidyOldDemos(Date.now());
  const folder = await makeDemoFolder(options.dir, cwd);
  const there = demoEnvironment(env, folder.home);
  await makeSampleRepository(folder.repository, there);
  const context = createContext({ cwd: folder.repository, env: there }, out);
  try {
    out.line(`A small shop with failing tests, in ${folder.repository}`);
    sayTests(context, "before", await runTests(folder.repository, there));
    await addIssues(context);
    out.line("");
    const code = await runIssues(context, [], { withoutSummary: true });
    out.line("");
    const after = await runTests(folder.repository, there);
    sayTests(context, "afterwards", after);
    const landed = await allLanded(context);
    await sayEnd(context, folder, there);
    if (!options.keep && options.dir === undefined) await markEnded(folder);
    if (code !== 0) return code;
    return landed && after.failed === 0 && after.passed > 0 ? 0 : 1;
  } finally {
    context.app.close();
  }
}

function sayTests({ out }: Context, when: string, { passed, failed, failures }: TestResult): void {
  out.line(`node --test ${when}: ${passed} pass, ${failed} fail`);
  for (const name of failures) out.line(`  ✗ ${name}`);
}

async function addIssues({ app, out }: Context): Promise<void> {
  const project = await app.project();
  const { workItems } = await app.store();
  out.line("");
  out.line("Three issues on the board:");
  for (const { id, title, body, priority } of sampleIssues) {
    const rest = { type: "task", parent: null, deps: [], source: "implement", createdAt: null } as const;
    const added = await workItems.add({ projectId: project.id, id, title, body, priority, ...rest });
    if (!added.ok) throw new Refusal(added.reason);
    out.line(`  ${id}: ${title}`);
  }
}

async function allLanded({ app }: Context): Promise<boolean> {
  const project = await app.project();
  const { workItems } = await app.store();
  const items = await Promise.all(sampleIssues.map(({ id }) => workItems.get(project.id, id)));
  return items.every((item) => item?.status === "completed");
}

async function sayEnd({ app, out }: Context, folder: DemoFolder, env: NodeJS.ProcessEnv): Promise<void> {
  const project = await app.project();
  const store = await app.store();
  const [run] = await store.runs(project.id, 1);
  const events = run === undefined ? [] : await store.eventsAfter(run.runId, 0, 10_000);
  out.line("");
  for (const line of renderSummary(events.reduce(foldSummary, emptySummary))) out.line(line);
  out.line("");
  out.line(`The commits are on main in ${folder.repository}; git log --oneline:`);
  const log = await git(folder.repository, ["log", "--oneline", "--no-decorate"], env);
  for (const line of log.split("\n")) out.line(`  ${line}`);
  out.line("");
  out.line(`Every prompt, transcript and verdict is in ${folder.home}. Look around:`);
  const program = callName(env, folder.repository);
  out.line(`  cd ${shellWord(folder.repository)}`);
  // In front of each command: were it exported, a person's own work would go into this folder, which is not kept.
  const look = `RATCHET_HOME=../home ${program}`;
  out.line(`  ${look} findings --all                       # what was found, and what became of it`);
  out.line(`  ${look} logs prompt last discount-codes      # the last prompt, as it was sent`);
  out.line(`  ${look} logs show last`);
  out.line("Then in a repository of yours: set it up, look whether all is there, add an issue, run:");
  out.line(`  ${program} init; ${program} doctor; ${program} work add "What is to be done"; ${program} run`);
}

/** The program that runs, so that the lines above can be copied: by its name only where a shell finds just that by it. */
function callName({ PATH = "", npm_execpath }: NodeJS.ProcessEnv, cwd: string): string {
  const script = process.argv[1] ?? "";
  const named = findExecutable("ratchet", PATH, cwd);
  // npm and npx look in folders that the shell which is copied to does not know.
  if (npm_execpath === undefined && named.state === "found" && isSameFile(named.path, script)) return "ratchet";
  return `node ${shellWord(script)}`;
}
