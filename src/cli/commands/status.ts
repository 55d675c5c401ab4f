import { setTimeout as wait } from "node:timers/promises";
import type { App, Project, Store } from "../../app.js";
import { jsonText } from "../../lib/json-text.js";
import { mirrorAdvice } from "../../views/mirror-advice.js";
import { renderStatus, type StatusJson, toStatus } from "../../views/status.js";
import { toUntold, type UntoldJson, untoldLines } from "../../views/untold.js";
import { type Left, leftAs, leftWords } from "../../views/waiting.js";
import { boardScope, idOf, unknownYet } from "../board-scope.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";
import { situationOf } from "../situation.js";

interface StatusOptions {
  readonly watch?: boolean;
  readonly all?: boolean;
  readonly json?: boolean;
}

interface Shown extends StatusOptions {
  /** The reader is in none of these projects. */
  readonly named: boolean;
}

/** What no run goes on with by itself. */
const leftStatuses = ["failed", "waiting_for_response", "quarantined"] as const;
/** More than anybody counts. */
const mostLeft = 1000;

/**
 * What is told besides the contract's runs: issues of the board that wait for their user, as branches do, mirrors that are
 * gone or damaged, and what trackers have not been told yet.
 */
interface Told extends StatusJson {
  readonly left: Readonly<Partial<Record<Left, number>>>;
  readonly behind: readonly string[];
  readonly mirror: string | null;
  readonly untold: readonly UntoldJson[];
}

export async function showStatus(context: Context, options: StatusOptions): Promise<number> {
  const scope = await boardScope(context, await context.app.store("reader"), options);
  if (scope.type === "unknown") context.out.note(unknownYet(scope.root));
  const shown = { ...options, named: scope.type === "all" };
  if (options.watch) return await watch(context, shown);
  const status = await readStatus(context, options);
  if (options.json) context.out.json(status);
  else for (const line of await linesOf(context, shown, status)) context.out.line(line);
  return 0;
}

/** Reads what is unfinished and nothing else: its cost does not grow with history. */
export async function readStatus(context: Context, { all = false }: StatusOptions): Promise<Told> {
  const { app } = context;
  const store = await app.store("reader");
  const scope = await boardScope(context, store, { all });
  const id = idOf(scope);
  const projects = (await store.projects()).filter((project) => id === null || project.id === id);
  const unfinished = await store.unfinishedRuns(id);
  const runs = await Promise.all(unfinished.map(({ run, driverAlive }) => situationOf(app, run, driverAlive)));
  const behind = await Promise.all(
    projects.map(async (project) => {
      const lines = await app.branchesBehind(project);
      // What a line tells to be run is for that folder.
      return scope.type === "all" ? lines.map((line) => `in ${project.repoPath}: ${line}`) : lines;
    }),
  );
  const mirror = await mirrorTrouble(app, projects);
  const untold = (await app.owed(id)).map(toUntold);
  const left = await countLeft(store, id);
  return { ...toStatus(runs, Date.now()), left, behind: behind.flat(), mirror, untold };
}

async function countLeft(store: Store, projectId: string | null): Promise<Told["left"]> {
  const items = await store.workItems.list({ projectId, statuses: leftStatuses, limit: mostLeft });
  const left = items.flatMap(leftAs);
  return Object.fromEntries(leftStatuses.map((status) => [status, left.filter((one) => one === status).length]));
}

async function mirrorTrouble(app: App, projects: readonly Project[]): Promise<string | null> {
  const looked = await Promise.all(projects.map(({ id }) => app.lookAtMirror(id)));
  const troubles = looked.flatMap((health) => health?.trouble ?? []);
  return troubles.length === 0 ? null : `${troubles.join("; ")}: ${mirrorAdvice}`;
}

async function linesOf({ out }: Context, { named }: Shown, status: Told): Promise<string[]> {
  const left = leftWords((each) => status.left[each] ?? 0);
  return [
    ...renderStatus(status, await roomOf(out, status), { named }),
    ...(left === null ? [] : [`Left: ${left}`]),
    ...status.behind,
    ...(status.mirror ? [status.mirror] : []),
    ...untoldLines(status.untold, { named }),
  ];
}

const redrawMs = 1000;

/** Until nobody reads any more. Redrawn in a terminal; elsewhere printed again when something changed. */
async function watch(context: Context, options: Shown): Promise<number> {
  const { out } = context;
  const draw = out.isTerminal ? (await import("log-update")).default : null;
  for (let last = ""; !out.gone.aborted; ) {
    const status = await readStatus(context, options);
    const text = options.json ? jsonText(status) : out.redact((await linesOf(context, options, status)).join("\n"));
    if (draw && !options.json) draw(text);
    else if (text !== last) out.text(`${text}\n`);
    last = text;
    await wait(redrawMs, undefined, { signal: out.gone }).catch(() => undefined);
  }
  return 0;
}
