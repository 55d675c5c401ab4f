import { randomBytes } from "node:crypto";
import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { drive, openStore, ratchetHome } from "../dist-test/bench-api.mjs";
import { median, timed } from "./measure.mjs";

/**
 * What recording an event costs: drive() with a performer that does nothing, on the real store, against a line appended
 * with fdatasync and against a bare committed insert. Time, bytes, and whether the 10,000th step costs more than the
 * 100th. Every step makes one public event. The three are measured in turns, so that a busy disk hits all alike.
 */
const rounds = 11;
const stepsPerRound = 200;
const pageBytes = 4096;
/** Bytes of the arrival and of the machine's state. */
const eventSizes = [
  [200, 0],
  [2000, 0],
  [20_000, 0],
  [600, 3000],
];

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    return [...(await compareTimes(folder)), ...(await compareBytes(folder)), await compareAges(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareTimes(folder) {
  const payload = sayings(400);
  const costs = { recorded: [], appended: [], inserted: [] };
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: join(folder, "times") }) });
  const bare = bareDatabase(join(folder, "times-bare.db"));
  const file = openSync(join(folder, "lines"), "a");
  for (let round = 0; round < rounds; round++) {
    costs.recorded.push(await timed(() => record(store, `times-${round}`, { payload, steps: stepsPerRound })));
    costs.appended.push(await timed(() => repeat(() => append(file, payload))));
    costs.inserted.push(await timed(() => repeat(() => bare.insert.run(payload))));
  }
  store.close();
  bare.database.close();
  closeSync(file);
  return [
    ratio("recording an event / append and fdatasync", costs.recorded, costs.appended, 2.5),
    ratio("recording an event / bare committed insert", costs.recorded, costs.inserted, 2),
  ];
}

async function compareBytes(folder) {
  const results = [];
  for (const [arrival, state] of eventSizes) {
    const name = `an event of ${arrival} B${state === 0 ? "" : ` with a state of ${state} B`}`;
    const sizes = { payload: sayings(arrival), ballast: sayings(state) };
    const same = JSON.stringify(stepOf(sizes));
    const recorded = [];
    const inserted = [];
    for (let round = 0; round < 5; round++) {
      const home = ratchetHome({ RATCHET_HOME: join(folder, `bytes-${arrival}-${state}-${round}`) });
      const store = await openStore({ home });
      recorded.push(await written(home.database, () => record(store, "bytes", { ...sizes, steps: stepsPerRound })));
      store.close();
      const path = join(folder, `bytes-${arrival}-${state}-${round}.db`);
      const bare = bareDatabase(path);
      inserted.push(await written(path, () => repeat(() => bare.insert.run(same))));
      bare.database.close();
    }
    results.push(ratio(`bytes written for ${name} / bare committed insert`, recorded, inserted, 1.6));
    const allowed = recorded.map(() => stepsPerRound * (2 * same.length + 4 * pageBytes));
    results.push(ratio(`bytes written for ${name} / (2 × payload + 4 pages)`, recorded, allowed, 1));
  }
  return results;
}

/** A young run and one with a long history, in turns: a hundred steps each time. */
async function compareAges(folder) {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: join(folder, "ages") }) });
  const young = [];
  const old = [];
  await recordSome(store, "old", 10_000);
  for (let round = 0; round < rounds; round++) {
    await recordSome(store, `young-${round}`, 100);
    young.push(await recordSome(store, `young-${round}`, 100));
    old.push(await recordSome(store, "old", 100));
  }
  store.close();
  return ratio("the 10,000th step / the 100th", old, young, 1.3);
}

/** Goes on with a run for some steps, then stops it; the time they took, the opening not counted. */
async function recordSome(store, name, count) {
  const stop = new AbortController();
  let start = 0;
  let end = 0;
  let done = 0;
  const onCommit = () => {
    if (done++ === 0) start = performance.now();
    if (done <= count) return;
    end = performance.now();
    stop.abort();
  };
  await record(store, name, { payload: sayings(400), steps: Number.POSITIVE_INFINITY, onCommit, stop: stop.signal });
  return end - start;
}

/** Text that repeats nothing, so that none of it is saved by being packed. */
function sayings(length) {
  return randomBytes(length).toString("base64url").slice(0, length);
}

/** What such a step hands to the log, which is the payload of the bare insert it is compared with. */
function stepOf({ payload, ballast }) {
  return {
    arrival: { type: "done", payload, at: Date.now() },
    state: { step: 100, ballast },
    owed: [{ kind: "nothing", key: "nothing:100" }],
    reports: [{ type: "log", level: "info", text: "step 100" }],
  };
}

/** A machine that owes one effect after the other; each settles at once, with the payload. */
async function record(store, name, { payload, ballast = "", steps, onCommit, stop }) {
  const log = store.log({
    machine: name,
    kind: "bench",
    runId: name,
    codec: { encode: (state) => state, decode: (state) => state, rows: () => [] },
  });
  const state = await drive({
    log,
    initial: { step: 0, ballast },
    transition: ({ step }) => ({
      state: { step: step + 1, ballast },
      effects: step < steps ? [{ kind: "nothing", key: `nothing:${step}` }] : [],
      reports: [{ type: "log", level: "info", text: `step ${step}` }],
    }),
    perform: async () => ({ event: { type: "done", payload } }),
    crashed: (_effect, error) => ({ type: "crashed", message: String(error) }),
    now: Date.now,
    ...(onCommit && { onCommit }),
    ...(stop && { stop }),
  });
  if (!stop && state.step !== steps + 1) throw new Error(`expected ${steps + 1} steps, got ${state.step}`);
}

function bareDatabase(path) {
  const database = new DatabaseSync(path);
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE events (id INTEGER PRIMARY KEY, body TEXT)",
  );
  return { database, insert: database.prepare("INSERT INTO events (body) VALUES (?)") };
}

function append(file, line) {
  writeSync(file, `${line}\n`);
  fdatasyncSync(file);
}

function repeat(act) {
  for (let count = 0; count < stepsPerRound; count++) act();
}

/** Bytes this process wrote, those of a final checkpoint included. */
async function written(path, act) {
  const before = wroteBytes();
  await act();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  return wroteBytes() - before;
}
function wroteBytes() {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

function ratio(name, ours, theirs, limit) {
  return { name, measured: median(ours) / median(theirs), limit, unit: "x" };
}
