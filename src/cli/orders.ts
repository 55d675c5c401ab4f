import type { App, Store } from "../app.js";

/** How a run was told to end. */
interface Orders {
  /** Also while it stops. */
  readonly draining: boolean;
  readonly stopping: boolean;
}

/** What the run has heard, and what is left for it while nobody drives it. */
export async function ordersOf(app: App, runId: string): Promise<Orders> {
  const store = await app.store("reader");
  const [state, machine] = [await app.runState(runId), await app.runMachine(runId)];
  const unheard = await unheardBy(store, machine);
  const stopping = (state?.stopping ?? false) || unheard.includes("stop");
  return { stopping, draining: stopping || (state?.draining ?? false) || unheard.includes("drain") };
}

/** How often the run was told to end so far, heard or not: who looks twice sees whether somebody said so in between. */
export async function countOrders(app: App, runId: string): Promise<number> {
  const store = await app.store();
  const machine = await app.runMachine(runId);
  const heard = (await store.journal(machine)).flatMap((arrival) => orderIn(arrival, "signal"));
  return heard.length + (await unheardBy(store, machine)).length;
}

/** The orders that a machine finds when somebody drives it again. */
export async function unheardBy(store: Store, machine: string): Promise<("drain" | "stop")[]> {
  return (await store.signals(machine)).flatMap((signal) => orderIn(signal, "body"));
}

/** The issues of a run that were told to stop by their names, and have not heard it. */
export async function stoppedByName(store: Store, runId: string): Promise<string[]> {
  const living = (await store.issueStates(runId)).filter(({ done }) => !done);
  const orders = await Promise.all(living.map(({ id }) => unheardBy(store, id)));
  return living.flatMap(({ state }, at) => (orders[at]?.includes("stop") ? [String(partOf(state, "issueId"))] : []));
}

function orderIn(value: unknown, place: "signal" | "body"): ("drain" | "stop")[] {
  const body: unknown = partOf(value, place);
  const name = partOf(body, "name");
  return name === "drain" || name === "stop" ? [name] : [];
}

function partOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
