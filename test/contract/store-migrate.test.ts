import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, it, onTestFinished } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { selfIdentity } from "../../src/lib/process-identity.js";
import { migrations } from "../../src/store/schema.js";
import { openStore } from "../../src/store/store.js";

/** A home as the version with the first two scripts has left it. */
function oldHome() {
  const root = mkdtempSync(join(tmpdir(), "ratchet-migrate-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const home = ratchetHome({ RATCHET_HOME: root });
  const database = new DatabaseSync(home.database);
  database.exec("PRAGMA journal_mode = WAL");
  for (const script of migrations.slice(0, 2)) database.exec(script);
  database.exec(`PRAGMA user_version = 2;
    INSERT INTO projects VALUES ('p', '/work/p', 3, 0);
    INSERT INTO work_items (project_id, id, title, body, type, priority, status, source, created_at, updated_at)
      VALUES ('p', 'p-1', 'Fix the login', 'the cookie', 'task', 2, 'available', 'implement', 0, 0),
      ('p', 'p-2', 'Old', '', 'task', 2, 'completed', 'review-followup', 0, 0);
    INSERT INTO work_events (project_id, item_id, at, type, body)
      VALUES ('p', 'p-1', 0, 'added', '{"title":"Fix the login"}'),
      ('p', 'p-2', 1, 'completed', '{"reason":"done by hand","commit":null}');`);
  database.close();
  return home;
}

it.each([true, false])(
  "an older board keeps everything and can be searched (first opened by a reader: %s)",
  async (readonly) => {
    const home = oldHome();
    const store = await openStore({ home, readonly });
    const found = async (text: string) => {
      const hits = await store.search({ text, projectIds: ["p"], limit: 9 });
      return hits.map((hit) => (hit.kind === "item" ? hit.item.id : `event ${hit.event.id}`));
    };
    expect(await found("cookie login")).toEqual(["p-1"]);
    expect(await found("by hand")).toEqual(["event 2"]);
    expect(await store.projects()).toEqual([{ id: "p", repoPath: "/work/p" }]);
    expect(await store.workItems.get("p", "p-1")).toMatchObject({ status: "available", payload: null });
    store.close();
    const writer = await openStore({ home });
    const escalation = { reason: "x", event: { type: "log", level: "info", text: "y" } } as const;
    expect(await writer.workItems.escalate("p", "p-1", escalation)).toBe(true);
    expect((await writer.search({ text: "login", projectIds: ["p"], limit: 9 })).length).toBe(1);
    writer.close();
  },
);

it("a machine, its ledger and its journal go on where an older version has left them", async () => {
  const home = oldHome();
  const database = new DatabaseSync(home.database);
  const id = (position: number) => 5 * 2 ** 32 + position;
  const step = database.prepare("INSERT INTO steps VALUES (?, ?, 7, ?, ?, ?, '{}', ?, ?)");
  database.exec(`INSERT INTO streams VALUES (5, 'r');
    INSERT INTO machines VALUES (1, 'living', 'issue', 5, 3, NULL, 0, NULL), (2, 'done', 'issue', 5, 1, NULL, 1, 2),
      (3, 'never', 'issue', 5, 1, NULL, 0, NULL)`);
  step.run(id(1), 1, 1, '{"1":1}', '[{"type":"log","level":"info","text":"one"}]', '{"name":"x","n":1}', "[]");
  step.run(id(2), 2, 1, '{"1":1}', null, '{"ended":true}', "[]");
  const patch = '{"gone":[],"in":{"n":{"is":2}},"add":{}}';
  step.run(
    id(3),
    1,
    2,
    '{"1":3}',
    '[{"type":"log","level":"info","text":"two"}]',
    `@${id(1)} ${patch}`,
    '[{"key":"k"}]',
  );
  const finding = (name: string, status: string) => JSON.stringify({ id: name, issue_id: "i", file: "f", status });
  const found = database.prepare(
    "INSERT INTO findings (project_id, issue_id, id, status, finding) VALUES ('p', 'i', ?, ?, ?)",
  );
  for (const status of ["open", "resolved"]) found.run(status, status, finding(status, status));
  database.close();

  const store = await openStore({ home });
  const states = (await store.machines("r")).map(({ id, done, state, owed }) => ({ id, done, state, owed }));
  expect(states).toEqual([
    { id: "living", done: false, state: { name: "x", n: 2 }, owed: [{ key: "k" }] },
    { id: "done", done: true, state: { ended: true }, owed: [] },
  ]);
  const said = (await store.eventsAfter("r", 0, 9)).map((event) => event.type === "log" && [event.seq, event.text]);
  expect(said).toEqual([
    [1, "one"],
    [2, "two"],
  ]);
  const open = await store.findings({ projectId: "p", all: false });
  expect(open).toMatchObject([{ id: "open", issue_id: "i", file: "f", status: "open" }]);
  expect(await store.findings({ projectId: "p", issueId: "i", all: true })).toHaveLength(2);
  await store.waiveDirect({ projectId: "p", id: "open", reason: "no" });
  expect(await store.findings({ projectId: "p", all: false })).toEqual([]);
  expect(await store.findings({ projectId: "p", all: true })).toMatchObject([
    { id: "open", status: "waived", reason: "no", file: "f" },
    { id: "resolved", status: "resolved" },
  ]);
  store.close();
});

it("a database is not changed under an older version that still drives a run; whoever is gone is in nobody's way", async () => {
  const home = oldHome();
  const database = new DatabaseSync(home.database);
  const driver = selfIdentity();
  const machine = database.prepare("INSERT INTO machines VALUES (?, ?, 'run', 5, 1, ?, 0, NULL)");
  database.exec("INSERT INTO streams VALUES (5, 'driven')");
  machine.run(1, "killed", JSON.stringify({ ...driver, start: "another start" }));
  machine.run(2, "living", JSON.stringify(driver));
  for (const readonly of [true, false]) {
    await expect(openStore({ home, readonly })).rejects.toThrow(/older Ratchet: process \d+ works on run driven$/);
  }
  expect(database.prepare("PRAGMA user_version").get()).toEqual({ user_version: 2 });
  database.exec("UPDATE machines SET driver = NULL WHERE id = 'living'");
  database.close();
  const store = await openStore({ home });
  expect(await store.projects()).toEqual([{ id: "p", repoPath: "/work/p" }]);
  store.close();
});
