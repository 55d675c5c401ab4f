import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { promisify } from "node:util";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PublicEvent, RunReport } from "../../src/core/report.js";
import { Driven, Fenced } from "../../src/durable/fenced.js";
import type { Log, Step } from "../../src/durable/types.js";
import type { Store } from "../../src/store/store.js";
import { type TempStore, tempStore } from "./temp-store.js";

type TestLog = Log<unknown, { type: string }, { key: string }, RunReport>;
let temp: TempStore;
beforeEach(async () => {
  temp = await tempStore();
});
afterEach(() => temp.done());

function logOf(store: Store, machine: string, runId = "r"): TestLog {
  return store.log({
    machine,
    kind: "issue",
    runId,
    codec: { encode: (state) => state, decode: (state) => state, rows: () => [] },
  });
}
function step(
  texts: readonly string[],
  parts: Partial<Step<unknown, { type: string }, { key: string }, RunReport>> = {},
) {
  return {
    arrival: { type: "did", at: 1000 },
    settled: null,
    signal: null,
    state: texts,
    owed: [{ key: "more" }],
    reports: texts.map((text): RunReport => ({ type: "log", level: "info", text })),
    ...parts,
  };
}
const report = (machine: string, count: number) =>
  promisify(execFile)(process.execPath, ["dist-test/store-report.mjs", temp.home.root, "r", machine, String(count)]);

describe("a large state", () => {
  it("that grows by a little is written as what has changed, and read back whole by drivers and by others", async () => {
    const stateAt = (count: number) => ({
      kept: Object.fromEntries(Array.from({ length: 400 + count }, (_, n) => [`stage-${n}.response`, `said by ${n}`])),
      at: count,
    });
    let state: Readonly<Record<string, unknown>> = stateAt(0);
    for (let count = 0; count < 120; count += 1) {
      const store = count % 40 === 0 ? await temp.again() : temp.store;
      const log = logOf(store, "m");
      const row = await log.open();
      expect(row?.state ?? state).toEqual(state);
      for (let more = 0; more < 3; more += 1) {
        state = { ...state, kept: { ...stateAt(count).kept }, at: count + more / 10 };
        await log.commit(step([], { state }));
      }
      state = stateAt(count + 1);
      await log.commit(step([], { state }));
    }
    expect(JSON.stringify((await temp.store.machineState("m"))?.state)).toBe(JSON.stringify(state));
    const database = new DatabaseSync(temp.home.database, { readOnly: true });
    const sizes = "SELECT length(states.state) AS whole, length(machines.state) AS changed FROM states, machines";
    const rows = database.prepare(sizes).all();
    database.close();
    const length = JSON.stringify(state).length;
    expect(rows).toEqual([
      {
        whole: expect.toSatisfy((size) => size > length / 2),
        changed: expect.toSatisfy((size) => size < length / 5),
      },
    ]);
  });
});

describe("events", () => {
  it("are numbered per run without gaps, also when several processes write", async () => {
    await Promise.all(["m1", "m2", "m3"].map((machine) => report(machine, 80)));
    const events = await temp.store.eventsAfter("r", 0, 1000);
    expect(events.map((event) => event.seq)).toEqual(Array.from({ length: 240 }, (_, n) => n + 1));
    const texts = events.map((event) => (event.type === "log" ? event.text : ""));
    for (const machine of ["m1", "m2", "m3"]) {
      expect(texts.filter((text) => text.startsWith(`${machine} `))).toEqual(
        Array.from({ length: 80 }, (_, n) => `${machine} ${n}`),
      );
    }
  });

  it("of steps that are recorded in one turn of the event loop are numbered in order, and one that is fenced keeps none back", async () => {
    const logs = await Promise.all(
      ["m1", "m2", "m3"].map(async (machine) => {
        const log = logOf(temp.store, machine);
        await log.open();
        await log.commit(step([`${machine} begins`]));
        return log;
      }),
    );
    const newer = logOf(await temp.again(), "m2");
    await newer.open();
    const ended = await Promise.allSettled(
      logs.map((log, index) => log.commit(step([`m${index + 1} goes on`, "and on"]))),
    );
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(ended[1]).toMatchObject({ reason: expect.any(Fenced) });
    await newer.commit(step(["the newer m2"]));
    const store = await temp.again();
    const events = await store.eventsAfter("r", 0, 99);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    const texts = events.map((event) => (event.type === "log" ? event.text : ""));
    expect(texts.slice(3)).toEqual(["m1 goes on", "and on", "m3 goes on", "and on", "the newer m2"]);
    const seen = [];
    for await (const page of temp.store.followEvents("r", 0, AbortSignal.timeout(20_000))) {
      seen.push(...page);
      if (seen.length >= 8) break;
    }
    expect(seen).toEqual(events);
  });

  it("tell a moment as a text, and are kept with the number that the machine gave", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    const waits = [2000, null, 9e15].map((until): RunReport => ({ type: "waiting", for: "it", until }));
    await log.commit(step([], { reports: waits }));
    const fresh = [];
    for await (const page of temp.store.followEvents("r", 0, AbortSignal.timeout(20_000))) {
      fresh.push(...page);
      break;
    }
    expect(fresh).toMatchObject([{ until: "1970-01-01T00:00:02.000Z" }, { until: null }, { until: null }]);
    expect(await (await temp.again()).eventsAfter("r", 0, 9)).toEqual(fresh);
    const database = new DatabaseSync(temp.home.database, { readOnly: true });
    expect(database.prepare("SELECT reports FROM steps").all()).toEqual([{ reports: JSON.stringify(waits) }]);
    database.close();
  });

  it("are found from any number on, whatever the number of events in a step", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    const sizes = [0, 3, 1, 0, 0, 5, 2, 0, 1];
    for (const [index, size] of sizes.entries()) {
      await log.commit(step(Array.from({ length: size }, (_, n) => `${index}.${n}`)));
    }
    for (let seq = 0; seq <= 13; seq++) {
      const after = await temp.store.eventsAfter("r", seq, 3);
      expect(after.map((event) => event.seq)).toEqual([1, 2, 3].map((n) => seq + n).filter((n) => n <= 12));
    }
    expect(await temp.store.eventsAfter("nobody", 0, 10)).toEqual([]);
  });

  it("that are long are stored packed, and read whole by whoever asks", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    const said = "nobody has looked at the empty order\n".repeat(40);
    const arrival = { type: "did", text: said, at: 1000 };
    await log.commit(step([said, "short"], { arrival }));
    const database = new DatabaseSync(temp.home.database, { readOnly: true });
    const sizes = "SELECT length(reports) < 400 AND length(arrival) < 100 AS packed FROM steps";
    expect(database.prepare(sizes).all()).toEqual([{ packed: 1 }]);
    database.close();
    const store = await temp.again();
    expect(await store.eventsAfter("r", 0, 9)).toMatchObject([{ text: said }, { text: "short" }]);
    expect(await store.journal("m")).toEqual([arrival]);
  });

  it("belong to their run alone", async () => {
    for (const run of ["r1", "r2"]) {
      const log = logOf(temp.store, `m-${run}`, run);
      await log.open();
      await log.commit(step([run]));
    }
    expect(await temp.store.eventsAfter("r2", 0, 10)).toEqual([
      { seq: 1, time: "1970-01-01T00:00:01.000Z", run_id: "r2", type: "log", level: "info", text: "r2" },
    ]);
  });

  it("are followed across processes, from before the run exists, woken and not polled", async () => {
    const abort = new AbortController();
    const seen: PublicEvent[] = [];
    const following = (async () => {
      for await (const events of temp.store.followEvents("r", 0, abort.signal)) {
        seen.push(...events);
        if (seen.length === 30) abort.abort();
      }
    })();
    await report("m", 30);
    const done = performance.now();
    await following;
    expect(performance.now() - done).toBeLessThan(1500);
    expect(seen.map((event) => event.seq)).toEqual(Array.from({ length: 30 }, (_, n) => n + 1));
  });
});

describe("events that are followed", () => {
  it("come together when several were recorded before they are asked for, each once", async () => {
    const log = logOf(temp.store, "m", "r");
    await log.open();
    const abort = new AbortController();
    const pages = temp.store.followEvents("r", 0, abort.signal)[Symbol.asyncIterator]();
    const next = async () => ((await pages.next()).value ?? []).map(({ seq }: PublicEvent) => seq);
    await log.commit(step(["a", "b"]));
    expect(await next()).toEqual([1, 2]);
    for (const name of ["c", "d", "e"]) await log.commit(step([name]));
    expect(await next()).toEqual([3, 4, 5]);
    const waiting = next();
    abort.abort();
    expect(await waiting).toEqual([]);
  });
});

describe("a machine's log", () => {
  it("gives back the newest state and what is owed, and nothing for a machine that has no step", async () => {
    const log = logOf(temp.store, "m");
    expect(await log.open()).toBeNull();
    expect(await logOf(temp.store, "m").open()).toBeNull();
    await logOf(temp.store, "other").open();
    const again = logOf(temp.store, "m");
    await again.open();
    await again.commit(step(["a"]));
    await again.commit(step(["b"], { owed: [{ key: "x" }, { key: "y" }] }));
    expect(await logOf(temp.store, "m").open()).toEqual({ state: ["b"], owed: [{ key: "x" }, { key: "y" }] });
  });

  it("keeps only the newest of heavy states", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    for (let n = 0; n < 20; n++) await log.commit(step([], { state: { n, text: "x".repeat(6000) } }));
    expect((await temp.store.machineState("m"))?.state).toMatchObject({ n: 19 });
    const database = new DatabaseSync(temp.home.database);
    expect(database.prepare("SELECT count(*) AS kept FROM states").get()).toEqual({ kept: 1 });
    database.close();
  });

  it("refuses an older driver's step and writes nothing of it", async () => {
    const old = logOf(temp.store, "m");
    await old.open();
    await old.commit(step(["old"]));
    await logOf(temp.store, "m").open();
    await expect(old.commit(step(["late"]))).rejects.toBeInstanceOf(Fenced);
    expect((await temp.store.machineState("m"))?.state).toEqual(["old"]);
    expect(await temp.store.eventsAfter("r", 0, 10)).toHaveLength(1);
  });

  it("is made by its first step: of two that found none, one drives it and the other writes nothing", async () => {
    const [one, other] = [logOf(temp.store, "m"), logOf(await temp.again(), "m")];
    expect([await one.open(), await other.open()]).toEqual([null, null]);
    expect(await temp.store.machines("r")).toEqual([]);
    await one.commit(step([], { state: { text: "x".repeat(6000) } }));
    await expect(other.commit(step(["other"]))).rejects.toBeInstanceOf(Fenced);
    await one.commit(step(["again"]));
    expect(await temp.store.machines("r")).toMatchObject([{ id: "m", state: ["again"] }]);
    expect(await temp.store.journal("m")).toHaveLength(2);
  });

  it("names the living driver to whoever asks for the machine in another process", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    await log.commit(step(["mine"]));
    expect(await temp.store.livingDriver("m")).toMatchObject({ pid: process.pid });
    await expect(report("m", 1)).rejects.toThrow(`process ${process.pid} drives m`);
    expect(new Driven("m", { pid: 1, start: "", boot: "" }).message).toBe("process 1 drives m");
  });

  it("writes nothing at all when a signal it takes is not there", async () => {
    const log = logOf(temp.store, "m");
    await log.open();
    await expect(log.commit(step(["x"], { signal: 77 }))).rejects.toThrow("rows that are not there");
    expect(await temp.store.machineState("m")).toBeNull();
  });

  it("shows every machine of a run with its state, done or not", async () => {
    const [one, two] = [logOf(temp.store, "one"), logOf(temp.store, "two")];
    await one.open();
    await two.open();
    await one.commit(step(["1"]));
    await two.commit(step(["2"], { owed: [] }));
    await one.commit(step(["3"]));
    const states = await temp.store.issueStates("r");
    expect(states.map(({ id, done, state, driverAlive }) => ({ id, done, state, driverAlive }))).toEqual([
      { id: "one", done: false, state: ["3"], driverAlive: true },
      { id: "two", done: true, state: ["2"], driverAlive: false },
    ]);
  });
});

describe("a signal", () => {
  it("waits for its machine, in order, each seen until it is taken", async () => {
    const { store } = temp;
    await store.signal("m", "a");
    await store.signal("m", { b: 1 });
    await store.signal("other", "c");
    const never = new AbortController().signal;
    const first = await store.nextSignal("m", 0, never);
    expect(first.body).toBe("a");
    expect((await store.nextSignal("m", first.id, never)).body).toEqual({ b: 1 });
    const log = logOf(store, "m");
    await log.open();
    await log.commit(step([], { signal: first.id }));
    expect((await store.nextSignal("m", 0, never)).body).toEqual({ b: 1 });
  });

  it("is given up on when aborted", async () => {
    const abort = new AbortController();
    const waiting = temp.store.nextSignal("m", 0, abort.signal);
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });

  it("of another process is found where no watcher can tell of it", async () => {
    const other = await temp.again();
    rmSync(temp.home.wake);
    const waiting = temp.store.nextSignal("m", 0, AbortSignal.timeout(10_000));
    await other.signal("m", { name: "drain" });
    expect(await waiting).toMatchObject({ body: { name: "drain" } });
  });
});
