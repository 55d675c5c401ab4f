import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { fillEvents } from "../dist-test/bench-fill.mjs";
import { compare, runProgram } from "./measure.mjs";

/** How long a command takes to answer, against the shortest program Node can run; and what a long history adds to it. */
const program = new URL("../dist/ratchet.js", import.meta.url).pathname;
const bare = () => runProgram("node", ["-e", "0"]);

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    const home = join(folder, "home");
    const repository = join(folder, "repository");
    runProgram("git", ["init", "-qb", "main", repository]);
    const git = (...args) =>
      runProgram("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
    git("commit", "-q", "--allow-empty", "-m", "start");
    await fillEvents({ home, repository, events: 100_000 });
    const options = { cwd: repository, env: { ...process.env, RATCHET_HOME: home } };
    const rounds = 11;
    writeFileSync(join(repository, "ratchet.yaml"), 'agent: { type: command, command: ["true"] }\n');
    const young = { ...options, env: { ...options.env, RATCHET_HOME: join(folder, "young") } };
    for (const place of [options, young]) runProgram("node", [program, "work", "add", "open", "--id", "open"], place);
    fillBoard(join(home, "ratchet.db"), 100_000);
    const plan = (place) => runProgram("node", [program, "run", "--dry-run", "--explain"], place);
    return [
      await compare("ratchet run --dry-run --explain with 100,000 completed issues / with none", {
        theirs: () => plan(young),
        ours: () => plan(options),
        rounds,
        limit: 1.5,
      }),
      await compare("ratchet --version / node -e 0", {
        theirs: bare,
        ours: () => runProgram("node", [program, "--version"], options),
        rounds,
        limit: 1.6,
      }),
      await compare("ratchet status with 100,000 events / node -e 0", {
        theirs: bare,
        ours: () => runProgram("node", [program, "status"], options),
        rounds,
        limit: 3,
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Straight into the table: as many commits would take minutes. */
function fillBoard(path, size) {
  const database = new DatabaseSync(path);
  const { id } = database.prepare("SELECT id FROM projects").get();
  const insert = database.prepare(
    `INSERT INTO work_items (project_id, id, title, body, type, priority, status, source, created_at, updated_at)
      VALUES (?, ?, 'An issue of the shop', ?, 'task', 2, 'completed', 'implement', 0, 0)`,
  );
  database.exec("BEGIN");
  for (let n = 0; n < size; n++) insert.run(id, `done-${n}`, "it works ".repeat(20));
  database.exec("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}
