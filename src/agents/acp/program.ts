import type { TurnOutcome } from "../../core/issue/events.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { messageOf, UserError } from "../../lib/errors.js";
import { findExecutable } from "../../lib/executable.js";
import { readJson } from "../../lib/files.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { openGuard } from "./guard.js";
import { countOpenCode } from "./opencode.js";
import { type BridgeOptions, parseOptions } from "./options.js";
import { Session } from "./session.js";
import { startAcpProgram } from "./start.js";

/**
 * Stands between Ratchet and a program that speaks ACP: `acp <options file>`, the prompt on stdin. The wire has two
 * ways, this program's output one, a line an event, into a file. So a turn goes on when Ratchet dies and is attached to
 * again, like any other agent's.
 */
const exitCodes: Readonly<Partial<Record<TurnOutcome["type"], number>>> = {
  ended: 0,
  transient: 75,
  limited: 75,
  "no-session": 66,
};
const cancelMs = 3000;
const countMs = 30_000;
/** Whoever stops us has little patience. */
const countStoppingMs = 7000;
const aliveMs = 10_000;

async function main(): Promise<number> {
  const options = parseOptions(await readJson(process.argv[2] ?? ""));
  if (options === null) throw new UserError("usage: acp <options file>");
  const outcome = await takeTurn(options, await readPrompt());
  tell({ type: "finished", outcome });
  if ("reason" in outcome) process.stderr.write(`${outcome.reason}\n`);
  return exitCodes[outcome.type] ?? 1;
}

async function takeTurn(options: BridgeOptions, prompt: string): Promise<TurnOutcome> {
  const { env } = process;
  const guard = openGuard(options.guard);
  const isProgram = (name: string) => findExecutable(name, env.PATH ?? "", options.cwd).state === "found";
  let isStopping = false;
  const count = (session: string, since: number) =>
    countOpenCode(session, since, { options, env, timeoutMs: isStopping ? countStoppingMs : countMs });
  const session = new Session({ options, env, tell, heard, isProgram, count, ...guard });
  const running = startAcpProgram(options.command, {
    ...{ cwd: options.cwd, env, peer: session },
    complain: (chunk) => void process.stderr.write(chunk),
  });
  const stop = () => {
    isStopping = true;
    session.cancel(running.connection);
    setTimeout(() => running.connection.fail(new Error("stopped")), cancelMs).unref();
  };
  process.once("SIGTERM", stop).once("SIGINT", stop);
  try {
    return await session.run(running.connection, prompt);
  } finally {
    await running.end(cancelMs);
  }
}

async function readPrompt(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString("utf8");
}

let toldAt = Date.now();

function tell(event: AgentEvent): void {
  toldAt = Date.now();
  process.stdout.write(`${JSON.stringify(event)}\n`);
}

/** A long thought is no silence: who follows the file sees that the program is at work. */
function heard(): void {
  if (Date.now() - toldAt < aliveMs) return;
  toldAt = Date.now();
  process.stdout.write(`${JSON.stringify({ type: "heard", at: toldAt })}\n`);
}

runToEnd(async () => {
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(
      `${error instanceof UserError ? messageOf(error) : ((error as Error).stack ?? messageOf(error))}\n`,
    );
    process.exitCode = 1;
  }
});
