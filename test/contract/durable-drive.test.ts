import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RunReport } from "../../src/core/report.js";
import { drive } from "../../src/durable/drive.js";
import type { Drive, KernelEvent, Log, Next, Stamped } from "../../src/durable/types.js";
import type { Store } from "../../src/store/store.js";
import { tempStore } from "./temp-store.js";

interface Effect {
  readonly key: string;
}
type Did = { readonly type: "did"; readonly key: string; readonly what?: unknown };
type State = readonly string[];
type Machine = Drive<State, Did, Effect, RunReport>;

let store: Store;
let done: () => void;
beforeEach(async () => {
  ({ store, done } = await tempStore());
});
afterEach(() => done());

function logOf(machine = "m"): Log<State, Did | KernelEvent, Effect, RunReport> {
  return store.log({
    machine,
    kind: "test",
    runId: "r",
    codec: { encode: (state) => state, decode: (state) => state as State, rows: () => [] },
  });
}

/** A performance that never ends. */
const never = () => new Promise<never>((_resolve) => undefined);

/** After each key, what is owed next; the state is the keys that arrived. */
function machine(next: Readonly<Record<string, readonly string[]>>, parts: Partial<Machine> = {}): Machine {
  return {
    log: logOf(),
    initial: [],
    transition: (state, event) => step(state, event, next),
    perform: async ({ key }) => ({ event: { type: "did", key } }),
    crashed: ({ key }, error) => ({ type: "did", key: `${key} crashed`, what: String(error) }),
    now: () => 1000,
    ...parts,
  };
}
function step(
  state: State,
  event: Stamped<Did | KernelEvent>,
  next: Readonly<Record<string, readonly string[]>>,
): Next<State, Effect, RunReport> {
  const key = event.type === "did" ? event.key : event.type;
  return { state: [...state, key], effects: (next[key] ?? []).map((owed) => ({ key: owed })) };
}

describe("drive", () => {
  it("starts a new machine with `started` and ends when nothing is owed", async () => {
    expect(await drive(machine({ started: ["a"], a: ["b"] }))).toEqual(["started", "a", "b"]);
  });

  it("gives back the state of a machine that is done, without a step", async () => {
    await drive(machine({ started: ["a"] }));
    expect(await drive(machine({ started: ["never"] }))).toEqual(["started", "a"]);
    expect(await store.journal("m")).toHaveLength(2);
  });

  it("turns a performer's throw into an event", async () => {
    const perform = async () => Promise.reject(new Error("broken"));
    expect(await drive(machine({ started: ["a"] }, { perform }))).toEqual(["started", "a crashed"]);
  });

  it("begins all that is owed at once", async () => {
    let running = 0;
    const gate = new EventTarget();
    const all = new Promise<void>((resolve) => gate.addEventListener("together", () => resolve()));
    const perform: Machine["perform"] = async ({ key }) => {
      if (++running === 3) gate.dispatchEvent(new Event("together"));
      await all;
      return { event: { type: "did", key } };
    };
    const state = await drive(machine({ started: ["a", "b", "c"] }, { perform }));
    expect(state).toHaveLength(4);
  });

  it("refuses to owe a key that is owed already, and records nothing of that step", async () => {
    const stuck: Machine["perform"] = ({ key }) =>
      key === "a" ? never() : Promise.resolve({ event: { type: "did", key } });
    const twice = machine({ started: ["a", "b"], b: ["a"] }, { perform: stuck });
    await expect(drive(twice)).rejects.toThrow("the effect a is owed twice");
    expect(await store.journal("m")).toHaveLength(1);
  });

  it("lets a key be owed again once it has settled", async () => {
    let times = 0;
    const transition: Machine["transition"] = (state, event) => ({
      state: [...state, event.type],
      effects: times++ < 3 ? [{ key: "again" }] : [],
    });
    expect(await drive(machine({}, { transition }))).toEqual(["started", "did", "did", "did"]);
  });

  it("hands each event to the machine as a restart would read it back", async () => {
    const seen: unknown[] = [];
    const transition: Machine["transition"] = (state, event) => {
      if (event.type === "did") seen.push(event.what);
      return step(state, event, { started: ["a"] });
    };
    const what = { when: new Date(0), gone: undefined, kept: null };
    await drive(machine({}, { transition, perform: async ({ key }) => ({ event: { type: "did", key, what } }) }));
    expect(seen).toStrictEqual([{ when: "1970-01-01T00:00:00.000Z", kept: null }]);
  });

  it("gives the machine what is known alongside, as of when the event is taken and not of when it came", async () => {
    const known: string[] = [];
    const log = logOf();
    const slow: Machine["log"] = {
      open: () => log.open(),
      commit: async (one) => {
        await log.commit(one);
        // Both have arrived by now.
        if (one.arrival.type === "did") known.push("told");
      },
    };
    await drive(
      machine({ started: ["a", "b"] }, { log: slow, alongside: () => (known.length === 0 ? {} : { known }) }),
    );
    const journal = (await store.journal("m")) as readonly object[];
    expect(journal.map((arrival) => "known" in arrival)).toEqual([false, false, true]);
  });

  it("tells the machine with the next event how long a step took to be recorded, where that was a while", async () => {
    let time = 1000;
    const log = logOf();
    const slow: Machine["log"] = {
      open: () => log.open(),
      commit: async (one) => {
        await log.commit(one);
        time += one.settled === "a" ? 5000 : 10;
      },
    };
    await drive(machine({ started: ["a"], a: ["b"], b: ["c"] }, { log: slow, now: () => time }));
    const journal = (await store.journal("m")) as readonly { readonly lateMs?: number }[];
    expect(journal.map(({ lateMs }) => lateMs ?? null)).toEqual([null, null, 5000, null]);
  });

  it("stops without waiting for performers and leaves owed what is owed", async () => {
    const stop = new AbortController();
    const aborted: string[] = [];
    const perform: Machine["perform"] = ({ key }, { signal }) => {
      signal.addEventListener("abort", () => aborted.push(key));
      stop.abort();
      return never();
    };
    const state = await drive(machine({ started: ["a", "b"] }, { perform, stop: stop.signal }));
    expect(state).toEqual(["started"]);
    expect(aborted).toEqual(["a", "b"]);
    expect((await store.machineState("m"))?.owed).toEqual([{ key: "a" }, { key: "b" }]);
  });

  it("tells a machine with something owed that it was resumed, and performers that the effect is an old one", async () => {
    const stop = new AbortController();
    const hang: Machine["perform"] = () => {
      stop.abort();
      return never();
    };
    await drive(machine({ started: ["a"] }, { perform: hang, stop: stop.signal }));
    const again: [string, boolean][] = [];
    const perform: Machine["perform"] = async ({ key }, context) => {
      again.push([key, context.again]);
      return { event: { type: "did", key } };
    };
    expect(await drive(machine({ resumed: ["b"], a: ["c"] }, { perform }))).toEqual([
      "started",
      "resumed",
      "a",
      "b",
      "c",
    ]);
    expect(again).toEqual([
      ["a", true],
      ["b", false],
      ["c", false],
    ]);
  });

  it("drops the result of a cancelled effect even when its key is owed anew", async () => {
    const finish: Record<string, (what: string) => void> = {};
    let begun = 0;
    const perform: Machine["perform"] = ({ key }) => {
      const name = key === "slow" ? `slow${++begun}` : key;
      if (name === "slow2") finish.slow1?.("late");
      if (name === "other") return Promise.resolve({ event: { type: "did", key } });
      return new Promise((resolve) => {
        finish[name] = (what) => resolve({ event: { type: "did", key, what } });
        if (name === "slow2") setImmediate(() => finish.slow2?.("right"));
      });
    };
    const seen: unknown[] = [];
    const transition: Machine["transition"] = (state, event) => {
      if (event.type === "started") return { state, effects: [{ key: "slow" }, { key: "other" }] };
      if (event.type === "did" && event.key === "other") return { state, effects: [{ key: "slow" }], cancel: ["slow"] };
      if (event.type === "did") seen.push(event.what);
      return { state, effects: [] };
    };
    await drive(machine({}, { transition, perform }));
    expect(seen).toEqual(["right"]);
  });

  it("says each commit with its state, after it is recorded", async () => {
    const states: State[] = [];
    await drive(machine({ started: ["a"] }, { onCommit: (state) => states.push(state) }));
    expect(states).toEqual([["started"], ["started", "a"]]);
  });

  it("lets machines of one run step side by side, each event with a number of its own", async () => {
    const next = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [n === 0 ? "started" : `k${n}`, [`k${n + 1}`]]),
    );
    const transition: Machine["transition"] = (state, event) => ({
      ...step(state, event, next),
      reports: [{ type: "log", level: "info", text: event.type }],
    });
    const machines = ["m1", "m2", "m3", "m4"].map((name) => machine({}, { transition, log: logOf(name) }));
    const states = await Promise.all(machines.map((each) => drive(each)));
    expect(states.map((state) => state.length)).toEqual([31, 31, 31, 31]);
    const events = await store.eventsAfter("r", 0, 1000);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 124 }, (_, n) => n + 1));
    for (const name of ["m1", "m2", "m3", "m4"]) expect((await store.machineState(name))?.done).toBe(true);
  });
});
