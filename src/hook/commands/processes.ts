import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { printable, unknown } from "../shell/unknown.js";
import { type Commands, each } from "./command.js";

const advice = "end only what your own command has started: kill $!, kill %1 or kill with its number";

/** Ending processes: only the turn's own. */
export const processes: Commands = {
  ...each(["pkill", "killall", "killall5", "skill", "xkill", "slay"], { judged: true, run: byName }),
  fuser: {
    judged: true,
    run: (call) => (call.args.some((arg) => /^-[a-jl-z]*k/.test(arg)) ? byName(call) : undefined),
  },
  kill: { judged: true, reads: () => [], run: kill },
};

function byName(call: Call): never {
  return refuse(`${call.name} may end processes of others; ${advice}`);
}

function kill(call: Call): string {
  const { signal, targets } = splitKill(call.args);
  if (signal === "0" || signal === "l" || signal === "L") return "";
  for (const target of targets) judgeTarget(call, target);
  return "";
}

/** The first word that begins with a dash is the signal. */
function splitKill(args: readonly string[]): { signal: string; targets: readonly string[] } {
  const [first = "", second = ""] = args;
  if (first === "-s" || first === "-n") return { signal: second, targets: args.slice(2).filter((arg) => arg !== "--") };
  if (first === "--") return { signal: "", targets: args.slice(1) };
  const isSignal = first.startsWith("-") && args.length > 1;
  const rest = isSignal ? args.slice(1) : args;
  const signal = isSignal || first === "-l" ? first.slice(1) : "";
  return { signal, targets: rest.filter((arg) => arg !== "--" && arg !== "-l") };
}

function judgeTarget(call: Call, target: string): void {
  const number = target.replace(/^-/, "");
  if (target === unknown.ownPid || target === `-${unknown.ownPid}` || /^%/.test(target)) return;
  if (target.split(/\s+/).every((part) => part === unknown.ownPid)) return;
  if (/^[1-9]\d*$/.test(number) && number !== "1" && call.shell.session.place.ownsProcess(Number(number))) return;
  refuse(`kill: ${printable(target)} is not known as a process of yours; ${advice}`);
}
