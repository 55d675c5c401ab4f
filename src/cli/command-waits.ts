import type { App, Store } from "../app.js";
import { type LockHolder, lockHolder } from "../lib/lock.js";
import { isSame } from "../lib/process-identity.js";
import { commandPid, isCommandRunning } from "../lib/run-command.js";

type StoredRun = Awaited<ReturnType<Store["run"]>>;
type Machine = Awaited<ReturnType<Store["issueStates"]>>[number];

/** A life's command, which runs or waits. */
interface Owing {
  readonly machine: Machine;
  readonly command: OwedCommand;
  readonly isRunning: boolean;
}

/** What lives wait for whose command does not run yet: a place for their gate, or their turn with an exclusive one. */
export function commandWaits(app: App, run: StoredRun, machines: readonly Machine[]): ReadonlyMap<Machine, string> {
  const owing = machines.flatMap((machine): Owing[] => {
    const command = machine.done ? undefined : machine.owed.find(isCommand);
    if (command === undefined) return [];
    const folder = app.home.attempt(run.runId, issueOf(machine) || null, command.folder);
    return [{ machine, command, isRunning: isCommandRunning(folder) }];
  });
  const atWork = owing.filter(({ command, isRunning }) => isRunning && isPlaced(command)).length;
  const place =
    atWork < run.settings.max_agents ? null : `a place for its gate, ${run.settings.max_agents} at a time (max_agents)`;
  const waits = owing.flatMap((one): [Machine, string][] => {
    const wait = one.isRunning ? null : (turnWait(app, one, owing) ?? (isPlaced(one.command) ? place : null));
    return wait === null ? [] : [[one.machine, wait]];
  });
  return new Map(waits);
}

/** null: it is not exclusive, or nobody else has its turn. Whoever has it may still wait for a place, as others do. */
function turnWait(app: App, { machine, command }: Owing, owing: readonly Owing[]): string | null {
  const { name, exclusive } = command;
  if (exclusive !== true || !machine.driverAlive || machine.driver === null) return null;
  const holder = lockHolder(app.home.commandLock(name), isCommandRunning);
  if (holder === null) return null;
  const running = owing.find((one) => one.isRunning && one.command.exclusive === true && one.command.name === name);
  if (running === undefined && holder.type === "alive" && isSame(holder.owner, machine.driver)) return null;
  const who = running === undefined ? otherRun(holder) : issueOf(running.machine) || "a trigger of the run";
  return `its turn with ${name}, which ${who} has now (exclusive)`;
}

function otherRun(holder: LockHolder): string {
  if (holder.type === "alive") return "another run";
  const pid = commandPid(holder.word);
  return `a run that is gone${pid === null ? "" : `, in process ${pid},`}`;
}

interface OwedCommand {
  readonly folder: string;
  readonly name: string;
  readonly stage: unknown;
  readonly exclusive?: unknown;
}

function isCommand(value: unknown): value is OwedCommand {
  if (typeof value !== "object" || value === null || !("kind" in value) || value.kind !== "command") return false;
  if (!("folder" in value && "name" in value && "stage" in value)) return false;
  return typeof value.folder === "string" && typeof value.name === "string";
}

/** Gates alone have places. */
function isPlaced({ stage }: OwedCommand): boolean {
  return stage === "gate" || stage === "landing";
}

function issueOf({ state }: Machine): string {
  return typeof state === "object" && state !== null && "issueId" in state ? String(state.issueId) : "";
}
