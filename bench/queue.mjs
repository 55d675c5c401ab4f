import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { openStore, ratchetHome } from "../dist-test/bench-api.mjs";
import { median } from "./measure.mjs";

/**
 * The board at 1,000 and at 100,000 items: taking the next item and listing 50 must cost the same. Most items are done,
 * as on a board that has been used for long, and the rest are spread over priorities and ages.
 */
const sizes = [1000, 100_000];
const rounds = 9;
const timesPerRound = 30;
const open = ["available", "claimed", "blocked", "waiting_for_response", "failed", "quarantined"];

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  const boards = [];
  try {
    for (const size of sizes) boards.push(await makeBoard(join(folder, String(size)), size));
    return [
      await compare("claim-next", boards, claimNext),
      await compare("the first of the queue", boards, peek),
      await compare("a list of 50", boards, list),
      await compare("adding an item", boards, add),
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
  return { store, projectId, board: store.workItems };
}

/** Straight into the table: adding 100,000 items one commit at a time would take minutes. */
function fill(path, projectId, size) {
  const database = new DatabaseSync(path);
  const insert = database.prepare(
    `INSERT INTO work_items (project_id, id, title, body, type, priority, status, source, created_at, updated_at)
      VALUES (?, ?, ?, ?, 'task', ?, ?, 'bench', ?, 0)`,
  );
  const now = Date.now();
  database.exec("BEGIN");
  for (let n = 0; n < size; n++) {
    const status = n % 2 === 0 ? "completed" : n % 40 === 1 ? "failed" : "available";
    insert.run(
      projectId,
      `item-${n}`,
      `Item ${n}`,
      "x".repeat(300),
      n % 4,
      status,
      now - ((n * 7919) % 30) * 86_400_000,
    );
  }
  database.exec("COMMIT");
  database.close();
}

async function compare(name, boards, act) {
  const costs = boards.map(() => []);
  for (let round = 0; round < rounds; round++) {
    for (const [index, board] of boards.entries()) {
      const start = performance.now();
      for (let time = 0; time < timesPerRound; time++) await act(board);
      costs[index].push(performance.now() - start);
    }
  }
  const [few, many] = costs.map(median);
  return { name: `${name} at ${sizes[1]} items / at ${sizes[0]}`, measured: many / few, limit: 1.5, unit: "x" };
}

async function claimNext({ board, projectId }) {
  const item = await board.claimNext(projectId, { holder: "bench", leaseUntil: Date.now() + 600_000 });
  if (item === null) throw new Error("nothing to claim");
  await board.release(projectId, item.id, "bench");
}

async function peek({ board, projectId }) {
  const query = { projectId, scope: { type: "all" }, resume: false, limit: 1, now: Date.now() };
  if ((await board.ready(query)).length !== 1) throw new Error("nothing is ready");
}

async function list({ board, projectId }) {
  const items = await board.list({ projectId, statuses: open, limit: 50 });
  if (items.length !== 50) throw new Error(`${items.length} items`);
}

async function add({ board, projectId }) {
  const added = await board.add({
    projectId,
    id: null,
    title: "new",
    body: "",
    type: "task",
    parent: null,
    deps: ["item-1"],
    priority: 2,
    source: "bench",
    createdAt: null,
  });
  if (!added.ok) throw new Error(added.reason);
}
