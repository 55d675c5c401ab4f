import { closeSync, fdatasyncSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { drive, openStore, ratchetHome } from "../dist-test/bench-api.mjs";

/**
 * What recording an event costs: drive() with a performer that does nothing, on the real store, against a line appended
 * with fdatasync and against a bare committed insert. Time, bytes, and whether the 10,000th step costs more than the
 * 100th. Every step makes one public event. The three are measured in turns, so that a busy disk hits all alike.
 */
const rounds = 7;
const stepsPerRound = 300;
const pageBytes = 4096;

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    return [...(await compareTimes(folder)), ...(await compareBytes(folder)), await compareAges(folder)];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compareTimes(folder) {
  const payload = "x".repeat(400);
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
  for (const size of [200, 2000, 20_000]) {
    const payload = "x".repeat(size);
    const same = JSON.stringify(stepOf(payload));
    const recorded = [];
    const inserted = [];
    for (let round = 0; round < 5; round++) {
      const home = ratchetHome({ RATCHET_HOME: join(folder, `bytes-${size}-${round}`) });
      const store = await openStore({ home });
      recorded.push(
        await written(
          () => record(store, "bytes", { payload, steps: stepsPerRound }),
          () => store.close(),
        ),
      );
      const bare = bareDatabase(join(folder, `bytes-${size}-${round}.db`));
      inserted.push(
        await written(
          () => repeat(() => bare.insert.run(same)),
          () => bare.database.close(),
        ),
      );
    }
    const limit = (2 * same.length + 4 * pageBytes) / pageBytes;
    results.push(ratio(`bytes per event of ${size} B / bare committed insert`, recorded, inserted, 1.6));
    results.push({
      name: `pages per event of ${size} B (limit 2 × payload + 4 pages)`,
      measured: median(recorded) / stepsPerRound / pageBytes,
      limit,
      unit: "x",
    });
  }
  return results;
}

async function compareAges(folder) {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: join(folder, "ages") }) });
  const times = [];
  let last = performance.now();
  await record(store, "ages", {
    payload: "x".repeat(400),
    steps: 10_100,
    onCommit: () => {
      const now = performance.now();
      times.push(now - last);
      last = now;
    },
  });
  store.close();
  return {
    name: "the 10,000th step / the 100th",
    measured: median(times.slice(9800, 10_100)) / median(times.slice(50, 350)),
    limit: 1.3,
    unit: "x",
  };
}

/** What such a step hands to the log, which is the payload of the bare insert it is compared with. */
function stepOf(payload) {
  return {
    arrival: { type: "done", payload, at: Date.now() },
    state: { step: 100 },
    owed: [{ kind: "nothing", key: "nothing:100" }],
    reports: [{ type: "log", level: "info", text: "step 100" }],
  };
}

/** A machine that owes one effect after the other; each settles at once, with the payload. */
async function record(store, name, { payload, steps, onCommit }) {
  const log = store.log({
    machine: name,
    kind: "bench",
    runId: name,
    codec: { encode: (state) => state, decode: (state) => state, rows: () => [] },
  });
  const state = await drive({
    log,
    initial: { step: 0 },
    transition: ({ step }) => ({
      state: { step: step + 1 },
      effects: step < steps ? [{ kind: "nothing", key: `nothing:${step}` }] : [],
      reports: [{ type: "log", level: "info", text: `step ${step}` }],
    }),
    perform: async () => ({ event: { type: "done", payload } }),
    crashed: (_effect, error) => ({ type: "crashed", message: String(error) }),
    now: Date.now,
    ...(onCommit && { onCommit }),
  });
  if (state.step !== steps + 1) throw new Error(`expected ${steps + 1} steps, got ${state.step}`);
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

async function timed(act) {
  const start = performance.now();
  await act();
  return performance.now() - start;
}

/** Bytes this process gave to the disk, those of the final checkpoint included. */
async function written(act, close) {
  const before = wroteBytes();
  await act();
  close();
  return wroteBytes() - before;
}
function wroteBytes() {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
}

function ratio(name, ours, theirs, limit) {
  return { name, measured: median(ours) / median(theirs), limit, unit: "x" };
}
function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
