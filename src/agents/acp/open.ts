import type { TurnOutcome } from "../../core/issue/events.js";
import type { AgentEvent } from "../../core/ports/agent-event.js";
import { UserError } from "../../lib/errors.js";
import { type Fields, toFields, toList, toText } from "../json.js";
import { type Chosen, choiceOf, modeFor, modelFor } from "./choices.js";
import type { Connection } from "./connection.js";
import { isAuthRequired, outcomeOfFailure, outcomeOfLoading, ProgramGone } from "./failure.js";
import { sessionMeta } from "./hooks.js";
import type { BridgeOptions } from "./options.js";

const protocolVersion = 1;

/** Who we are and what we serve: files, so that the guard sees them; no terminals, so commands are asked for. */
const introduction = {
  protocolVersion,
  clientInfo: { name: "ratchet", title: "Ratchet", version: "1" },
  clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: false },
};

export interface Opening {
  readonly options: BridgeOptions;
  readonly readOnly: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Told the moment the session is known. */
  tell(event: AgentEvent): void;
}

/** What the program says of itself; a UserError when it speaks another version. */
export async function greet(connection: Connection): Promise<Fields> {
  const hello = await connection.call("initialize", introduction);
  if (hello.protocolVersion === protocolVersion) return hello;
  throw new UserError(`the program speaks version ${String(hello.protocolVersion)} of ACP, not ${protocolVersion}`);
}

export interface Opened {
  readonly id: string;
  /** What the program calls itself. */
  readonly program: string;
}

/** The session of the turn, in the mode and with the model it shall have; or why there is none. Never throws. */
export async function openSession(connection: Connection, opening: Opening): Promise<Opened | TurnOutcome> {
  const { session } = opening.options;
  let hello: Fields;
  try {
    hello = await greet(connection);
  } catch (error) {
    return startFailure(error);
  }
  try {
    const given = await orAuthenticated(connection, { hello, env: opening.env }, () =>
      enter(connection, hello, opening.options),
    );
    if (given === null) return { type: "no-session" };
    const id = session ?? toText(given.sessionId);
    if (id === "") return { type: "failed", reason: "the program gave no session" };
    opening.tell({ type: "session", id });
    await choose(connection, { ...opening, id, given });
    return { id, program: toText(toFields(hello.agentInfo).name) };
  } catch (error) {
    return session === null || error instanceof UserError ? startFailure(error) : outcomeOfLoading(error);
  }
}

function startFailure(error: unknown): TurnOutcome {
  const isFinal = error instanceof ProgramGone || error instanceof UserError;
  return isFinal ? { type: "failed", reason: error.message } : outcomeOfFailure(error);
}

/** null: the program cannot go on in a session. */
async function enter(
  connection: Connection,
  hello: Fields,
  { session, cwd, hook }: BridgeOptions,
): Promise<Fields | null> {
  const where = { cwd, mcpServers: [], _meta: sessionMeta(hook, cwd) };
  if (session === null) return await connection.call("session/new", where);
  const can = toFields(hello.agentCapabilities);
  if (can.loadSession === true) return await connection.call("session/load", { sessionId: session, ...where });
  const { resume } = toFields(can.sessionCapabilities);
  if (resume === undefined || resume === null || resume === false) return null;
  return await connection.call("session/resume", { sessionId: session, ...where });
}

/** Logging in is a person's; but where a key is in the environment, it can be named as the way. */
async function orAuthenticated<T>(
  connection: Connection,
  { hello, env }: { readonly hello: Fields; readonly env: NodeJS.ProcessEnv },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const methodId = keyMethod(hello, env);
    if (!isAuthRequired(error) || methodId === null) throw error;
    await connection.call("authenticate", { methodId });
    return await work();
  }
}

function keyMethod(hello: Fields, env: NodeJS.ProcessEnv): string | null {
  const hasKey = Object.entries(env).some(([name, value]) => name.endsWith("_API_KEY") && value);
  const method = toList(hello.authMethods)
    .map(toFields)
    .find(({ id }) => /api.?key/i.test(toText(id)));
  return hasKey && method ? toText(method.id) : null;
}

async function choose(
  connection: Connection,
  { options, readOnly, id, given }: Opening & { readonly id: string; readonly given: Fields },
): Promise<void> {
  const { model, effort } = options;
  let session = given;
  const set = async (what: Chosen, pick: (offered: readonly string[]) => string | null) => {
    const choice = choiceOf(session, what);
    const value = choice === null ? null : pick(choice.offered);
    if (choice === null || value === null || value === choice.current) return value;
    const { method, params } = choice.set(value);
    const { configOptions } = await connection.call(method, { sessionId: id, ...params });
    // Another model may have other efforts.
    if (Array.isArray(configOptions)) session = { ...session, configOptions };
    return value;
  };
  await set("mode", (offered) => modeFor(offered, readOnly));
  const used = model === null ? null : await set("model", (offered) => modelFor(offered, model, effort));
  if (model !== null && used === null) throw notOffered(session, "model", model);
  if (effort === null || used?.toLowerCase().endsWith(`[${effort.toLowerCase()}]`)) return;
  const level = await set("thought_level", (offered) => offered.find((one) => one === effort) ?? null);
  if (level === null) throw notOffered(session, "thought_level", effort);
}

function notOffered(session: Fields, what: Chosen, value: string): UserError {
  const offered = choiceOf(session, what)?.offered ?? [];
  const name = what === "model" ? "agent.model" : "agent.effort";
  const instead = offered.length === 0 ? "it lets nobody choose" : `it offers ${offered.slice(0, 20).join(", ")}`;
  return new UserError(`${name}: the program has no ${value}; ${instead}`);
}
