import type { App, Store } from "../app.js";
import { isCommandRunning } from "../lib/run-command.js";

type StoredRun = Awaited<ReturnType<Store["run"]>>;
type Machine = Awaited<ReturnType<Store["issueStates"]>>[number];

export function placeWait({ settings }: StoredRun): string {
  return `a place for its gate, ${settings.max_agents} at a time (max_agents)`;
}

/** Lives whose gate has a command that does not run while as many others' run as may. An exclusive one may wait for something else. */
export function withoutPlace(app: App, run: StoredRun, machines: readonly Machine[]): ReadonlySet<Machine> {
  const owing = machines.flatMap((machine) => {
    const command = machine.done ? undefined : machine.owed.find(isPlaced);
    const attempts = issueOf(machine) || "_run";
    if (command === undefined) return [];
    const isRunning = isCommandRunning(app.home.attempt(run.runId, attempts, command.folder));
    return [{ machine, isRunning, mayWait: !command.exclusive }];
  });
  const running = owing.filter(({ isRunning }) => isRunning).length;
  if (running < run.settings.max_agents) return new Set();
  return new Set(owing.flatMap(({ machine, isRunning, mayWait }) => (mayWait && !isRunning ? [machine] : [])));
}

interface PlacedCommand {
  readonly folder: string;
  readonly exclusive?: unknown;
}

/** Gates alone have places. */
function isPlaced(value: unknown): value is PlacedCommand {
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "command") return false;
  if (!("folder" in value) || typeof value.folder !== "string" || !("stage" in value)) return false;
  return value.stage === "gate" || value.stage === "landing";
}

function issueOf({ state }: Machine): string {
  return typeof state === "object" && state !== null && "issueId" in state ? String(state.issueId) : "";
}
