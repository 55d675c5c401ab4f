import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { openStore, ratchetHome } from "../dist-test/bench-api.mjs";
import { median } from "./measure.mjs";

/**
 * What the board costs as it grows. Making, claiming and completing an item against a bare insert into a table of one
 * index, each committed with the same durability, at 1,000 and at 100,000 items; what is looked up by an index at 10
 * and at 100,000; opening it at both. Both sides of each ratio take turns in one process.
 */
const many = 100_000;
const rounds = 25;
const timesPerRound = 12;
/** A look takes microseconds: a round of them must be longer than what else the machine does. */
const looksPerRound = 200;
const open = ["available", "claimed", "blocked", "waiting_for_response", "failed", "quarantined"];

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  const boards = [];
  const board = async (size) => {
    boards.push(await makeBoard(join(folder, String(size)), size));
    return boards.at(-1);
  };
  try {
    const bare = makeBare(join(folder, "bare"));
    const [tiny, list, small, big] = [await board(10), await board(50), await board(1000), await board(many)];
    return [
      ...(await writes({ bare, small, big })),
      await same("claim-next", [tiny, big], { act: claimNext }),
      await same("a list of 50", [list, big], { act: listFifty, times: looksPerRound / 4 }),
      await same("a rework lookup", [tiny, big], { act: lookUp, times: looksPerRound }),
      await opening(small, big),
    ];
  } finally {
    for (const { store } of boards) store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function makeBoard(root, size) {
  const home = ratchetHome({ RATCHET_HOME: root });
  const store = await openStore({ home });
  const { id: projectId } = await store.registerProject("/bench");
  fill(home.database, projectId, size);
  return { home, size, store, projectId, board: store.workItems, count: 0, made: [] };
}

/** Straight into the table, where the triggers index it: 100,000 commits would take minutes. */
function fill(path, projectId, size) {
  const database = new DatabaseSync(path);
  const insert = database.prepare(
    `INSERT INTO work_items (project_id, id, title, body, type, priority, status, source, created_at, updated_at,
      payload, pr_number, cycle) VALUES (?, ?, ?, ?, 'task', ?, ?, ?, ?, 0, ?, ?, ?)`,
  );
  const now = Date.now();
  database.exec("BEGIN");
  for (let n = 0; n < size; n++) {
    const isRework = n % 10 === 9;
    const status = n % 2 === 0 && size > 50 ? "completed" : n % 40 === 1 ? "failed" : "available";
    insert.run(
      ...[projectId, `item-${n}`, `Item ${n} of the shop`, `Change part ${n % 977} so that ${"it works ".repeat(20)}`],
      ...[n % 4, status, isRework ? "rework" : "implement", now - ((n * 7919) % 30) * 86_400_000],
      ...(isRework ? [JSON.stringify(reworkOf(projectId, n)), n, 1] : [null, null, null]),
    );
  }
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

function reworkOf(projectId, n) {
  return {
    source: "rework",
    pr_number: n,
    pr_url: `https://forge.example/o/r/pull/${n}`,
    repo: "o/r",
    branch: `item-${n}`,
    base_branch: "main",
    project_id: projectId,
    implementation_work_item_id: `item-${n}`,
    worktree_path: null,
    human_review_required: false,
    review_feedback: "Please check the limits.",
    rework_cycle: 1,
    inline_comments: [],
  };
}

function makeBare(folder) {
  mkdirSync(folder, { recursive: true });
  const database = new DatabaseSync(join(folder, "bare.db"));
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  database.exec("CREATE TABLE items (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, body TEXT NOT NULL)");
  const insert = database.prepare("INSERT INTO items (id, body) VALUES (?, ?)");
  let count = 0;
  return () => insert.run(`item-${++count}`, "it works ".repeat(20));
}

/** Cost of one call, as the median of rounds; all sides take turns. */
async function costs(sides, times = timesPerRound) {
  const measured = sides.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, act] of sides.entries()) {
      const start = performance.now();
      for (let time = 0; time < times; time++) await act();
      measured[index].push((performance.now() - start) / times);
    }
  }
  return measured.map(median);
}

async function writes({ bare, small, big }) {
  const steps = [
    ["create", create],
    ["claim", claim],
    ["complete", complete],
  ];
  const figures = [];
  for (const [name, act] of steps) {
    const [insert, few, lots] = await costs([bare, () => act(small), () => act(big)]);
    figures.push(
      { name: `${name}: throughput at 1,000 items / at ${many}`, measured: lots / few, limit: 1 / 0.8, unit: "x" },
      { name: `${name} at ${many} items / a bare committed insert`, measured: lots / insert, limit: 4, unit: "x" },
    );
  }
  return figures;
}

async function create(side) {
  const added = await side.board.add({
    projectId: side.projectId,
    id: null,
    title: "A new item of the shop",
    body: "it works ".repeat(20),
    type: "task",
    parent: null,
    deps: [],
    priority: 2,
    source: "implement",
    createdAt: null,
  });
  if (!added.ok) throw new Error(added.reason);
  side.made.push(added.id);
}

/** Those that were made are claimed, then completed: rounds and times are the same for each. */
async function claim(side) {
  const id = side.made[side.count++ % side.made.length];
  const claim = { holder: `bench-${side.count}`, leaseUntil: null, now: Date.now() };
  if (!(await side.board.claim(side.projectId, id, claim))) throw new Error(`${id} is not free`);
}

async function complete(side) {
  const id = side.made[side.count++ % side.made.length];
  if (!(await side.board.complete(side.projectId, id, null))) throw new Error(`${id} is not open`);
}

async function same(name, [few, lots], { act, times }) {
  const [little, much] = await costs([() => act(few), () => act(lots)], times);
  return { name: `${name} at ${lots.size} items / at ${few.size}`, measured: much / little, limit: 1.5, unit: "x" };
}

async function claimNext({ board, projectId }) {
  const item = await board.claimNext(projectId, { holder: "bench", leaseUntil: Date.now() + 600_000 });
  if (item === null) throw new Error("nothing to claim");
  await board.release(projectId, item.id, "bench");
}

async function listFifty({ board, projectId }) {
  const items = await board.list({ projectId, statuses: open, limit: 50 });
  if (items.length !== 50) throw new Error(`${items.length} items`);
}

async function lookUp({ board, projectId }) {
  if ((await board.rework(projectId, 9, 1)) === null) throw new Error("no rework of pull request 9");
}

async function opening(small, big) {
  const openOnce = async ({ home }) => {
    const store = await openStore({ home, readonly: true });
    await store.projects();
    store.close();
  };
  const [few, lots] = await costs([() => openOnce(small), () => openOnce(big)]);
  return { name: `opening the board at ${many} items / at 1,000`, measured: lots / few, limit: 1.5, unit: "x" };
}
