import type { CommandEnded } from "./events.js";
import { commandFacts, commandTitle, isPass } from "./ledger-parts.js";
import { stopClock } from "./session-end-clock.js";
import type { Step } from "./step.js";

/**
 * `setup` runs once in each new worktree, before anybody works in it or judges what is there: at the beginning, and where one
 * was made anew in the middle of the life, since whoever was at work in it had deleted it. What would begin there waits
 * for that, and the phase goes on with it afterwards.
 */
const first = "setup";

export function isSetUp(key: string): boolean {
  return key === first || key.startsWith(`${first}:`);
}

/** False: there is none. `commit`: what it changes of that is put back. */
export function oweSetUp(step: Step, commit: string | null): boolean {
  const { setup } = step.policy.settings.commands;
  if (!setup) return false;
  const folder = step.newFolder(first);
  step.owe({
    kind: "command",
    key: commit === null ? first : `${first}:${folder}`,
    folder,
    stage: "setup",
    name: "setup",
    command: setup.command,
    timeoutSeconds: setup.timeout,
    exclusive: setup.exclusive,
    place: "issue",
    commit,
  });
  return true;
}

export function noteRemade(step: Step, { remade = false }: { readonly remade?: boolean }): void {
  if (remade && step.policy.settings.commands.setup) step.set({ unready: true });
}

/** True: what would begin in the worktree has to wait. */
export function setsUpFirst(step: Step): boolean {
  const { unready = false, owed, work, baseSha } = step.state;
  if (!unready || owed.some(({ key }) => isSetUp(key))) return unready;
  stopClock(step);
  step.log("info", "The worktree was made anew: setup runs there once more");
  return oweSetUp(step, work?.head ?? baseSha);
}

/** False: the life cannot go on there. */
export function hasSetUp(step: Step, event: CommandEnded): boolean {
  return isPass(event) || (step.policy.settings.commands.setup?.allow_fail ?? false);
}

export function failSetUp(step: Step, event: CommandEnded): void {
  const command = { name: first, command: step.policy.settings.commands.setup?.command ?? "" };
  step.fail("setup_failed", [commandTitle(event, command), ...commandFacts(event, command).slice(1)].join("; "));
}
