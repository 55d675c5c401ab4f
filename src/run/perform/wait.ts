import type { WaitEffect } from "../../core/issue/effects.js";
import type { IssueSignal } from "../../core/issue/events.js";
import type { RunSignal } from "../../core/run/effects.js";
import type { Settled } from "../../durable/types.js";
import { messageOf } from "../../lib/errors.js";
import type { Inbox } from "../context.js";

interface SignalArrived<S> {
  readonly type: "signal";
  readonly key: string;
  readonly signal: S;
}

interface NotUnderstood {
  readonly type: "crashed";
  readonly key: string;
  readonly effect: string;
  readonly message: string;
  readonly external: false;
}

/** The next signal of the machine; its inbox row is taken by the commit that records the event. */
export async function performWait<S>(
  {
    inbox,
    machine,
    parse,
  }: { readonly inbox: Pick<Inbox, "next">; readonly machine: string; readonly parse: (body: unknown) => S },
  effect: WaitEffect,
  signal: AbortSignal,
): Promise<Settled<SignalArrived<S> | NotUnderstood>> {
  const { id, body } = await inbox.next(machine, signal);
  const { key } = effect;
  try {
    return { event: { type: "signal", key, signal: parse(body) }, signal: id };
  } catch (error) {
    // Taken out all the same: left there, it would be the next one again, for ever.
    const event = { type: "crashed", key, effect: "wait", message: messageOf(error), external: false } as const;
    return { event, signal: id };
  }
}

/** Inbox rows are written by us, but perhaps by another version: what is not understood is told, never guessed. */
export function parseIssueSignal(body: unknown): IssueSignal {
  const { name, finding, reason, turn, id, key, call, has } = fields(body);
  if (name === "session" && typeof turn === "string" && typeof id === "string") return { name, turn, id };
  if (name === "slow" && typeof key === "string" && typeof call === "string") return { name, key, call };
  if (name === "place" && typeof key === "string" && typeof has === "boolean") return { name, key, has };
  if (name === "drain" || name === "abort" || name === "stop") return { name };
  if (name === "budget" && typeof reason === "string") return { name, reason };
  if (name === "waive" && typeof finding === "string" && typeof reason === "string") return { name, finding, reason };
  throw new Error(`unknown signal ${JSON.stringify(body)}`);
}

export function parseRunSignal(body: unknown): RunSignal {
  const { name, reason, key, call } = fields(body);
  if (name === "slow" && typeof key === "string" && typeof call === "string") return { name, key, call };
  if (name === "drain" || name === "stop" || name === "unwatch") return { name };
  if (name === "budget" && typeof reason === "string") return { name, reason };
  throw new Error(`unknown signal ${JSON.stringify(body)}`);
}

function fields(body: unknown): Record<string, unknown> {
  return typeof body === "object" && body !== null ? { ...body } : {};
}
