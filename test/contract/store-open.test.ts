import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";
import { holding } from "../foreign-lock.js";
import { newItem } from "./new-item.js";
import { tempStore } from "./temp-store.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-open-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const open = (folder = root) => openStore({ home: ratchetHome({ RATCHET_HOME: folder }) });

interface Used {
  readonly added: number;
  readonly name?: string;
  readonly message?: string;
  readonly hint?: string;
}
/** The store in a process of its own, in a private mount namespace where `mount` has put something on the folder. */
function use(mount: string | null, ...args: string[]): Used {
  const node = [process.execPath, "dist-test/store-use.mjs", root, ...args];
  const [program = "", ...rest] =
    mount === null
      ? node
      : ["unshare", "--map-root-user", "--mount", "sh", "-c", `${mount} && exec "$@"`, "sh", ...node];
  return JSON.parse(execFileSync(program, rest, { encoding: "utf8" })) as Used;
}
function canMount(): boolean {
  try {
    execFileSync("unshare", ["--map-root-user", "--mount", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

describe("the state home", () => {
  it.each(["000", "022", "077"])("is closed to others under umask %s", (umask) => {
    const folder = join(root, "home");
    expect(
      execFileSync(process.execPath, ["dist-test/store-use.mjs", folder, "1", "10", umask], { encoding: "utf8" }),
    ).toContain('"added":1');
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const modes = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).mode & 0o777]);
    expect(Object.fromEntries(modes)).toMatchObject({ "ratchet.db": 0o600, wake: 0o600 });
    expect(modes.filter(([, mode]) => mode !== 0o600)).toEqual([]);
  });

  it("keeps the database's side files closed to others too, while they are there", async () => {
    const temp = await tempStore();
    try {
      await temp.store.registerProject("/work/p");
      const names = readdirSync(temp.home.root);
      expect(names).toEqual(expect.arrayContaining(["ratchet.db", "ratchet.db-wal", "ratchet.db-shm", "wake"]));
      for (const name of names) expect(statSync(join(temp.home.root, name)).mode & 0o777).toBe(0o600);
    } finally {
      temp.done();
    }
  });

  it("is refused with one sentence when a file is in its place, which stays as it is", async () => {
    writeFileSync(join(root, "file"), "", { mode: 0o644 });
    await expect(open(join(root, "file"))).rejects.toMatchObject({
      name: "ExternalError",
      message: expect.stringContaining("there is a file in its place"),
      hint: expect.stringContaining("RATCHET_HOME"),
    });
    expect(statSync(join(root, "file")).mode & 0o777).toBe(0o644);
  });

  it.skipIf(!canMount())("D3 is refused with one sentence when it is read-only", () => {
    expect(use(`mount -t tmpfs -o ro none ${root}`)).toMatchObject({
      added: 0,
      name: "ExternalError",
      message: expect.stringContaining("read-only"),
      hint: expect.stringContaining("RATCHET_HOME"),
    });
  });

  it.skipIf(!canMount())("D3 says when the disk is full, and has lost nothing of what it recorded", async () => {
    const kept = join(root, "..", `${root.split("/").at(-1)}-kept`);
    const mount = `mount -t tmpfs -o size=2m none ${root} && trap 'cp -r ${root} ${kept}' EXIT`;
    const script = `${mount}; "$@"`;
    const node = [process.execPath, "dist-test/store-use.mjs", root, "1000", "20000"];
    const out = execFileSync("unshare", ["--map-root-user", "--mount", "sh", "-c", script, "sh", ...node], {
      encoding: "utf8",
    });
    try {
      const used = JSON.parse(out) as Used;
      expect(used).toMatchObject({ name: "ExternalError", message: expect.stringContaining("disk is full") });
      expect(used.added).toBeGreaterThan(10);
      const store = await open(kept);
      expect(await store.workItems.list({ projectId: "repo", statuses: null, limit: 2000 })).toHaveLength(used.added);
      store.close();
    } finally {
      rmSync(kept, { recursive: true, force: true });
    }
  });
});

describe("the database", () => {
  it("of a newer version is refused and left alone", async () => {
    (await open()).close();
    const database = new DatabaseSync(join(root, "ratchet.db"));
    database.exec("PRAGMA user_version = 99");
    database.close();
    await expect(open()).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("was written by a newer Ratchet"),
      hint: expect.stringContaining("update Ratchet"),
    });
  });

  it("that is none is refused and left alone", async () => {
    const text = "this is a letter to my aunt\n".repeat(100);
    writeFileSync(join(root, "ratchet.db"), text);
    await expect(open()).rejects.toMatchObject({
      name: "UserError",
      message: expect.stringContaining("not a Ratchet database"),
    });
    expect(readFileSync(join(root, "ratchet.db"), "utf8")).toBe(text);
  });

  it("that is still empty is made by a reader too", async () => {
    writeFileSync(join(root, "ratchet.db"), "");
    const reader = await openStore({ home: ratchetHome({ RATCHET_HOME: root }), readonly: true });
    expect(await reader.projects()).toEqual([]);
    reader.close();
    const again = await openStore({ home: ratchetHome({ RATCHET_HOME: root }), readonly: true });
    await expect(again.registerProject("/work/p")).rejects.toThrow("cannot be opened for writing");
    again.close();
  });

  it("whose migration breaks off is as it was before", async () => {
    const database = new DatabaseSync(join(root, "ratchet.db"));
    database.exec("CREATE TABLE work_items (id TEXT)");
    database.close();
    await expect(open()).rejects.toThrow("already exists");
    const again = new DatabaseSync(join(root, "ratchet.db"));
    expect(again.prepare("SELECT name FROM sqlite_schema").all()).toHaveLength(1);
    again.close();
  });

  it("is made once when several processes open it at the same moment", async () => {
    const stores = await Promise.all(Array.from({ length: 8 }, () => open()));
    const projects = await Promise.all(stores.map((store) => store.registerProject("/work/p")));
    expect(new Set(projects.map((project) => project.id))).toEqual(new Set(["p"]));
    for (const store of stores) store.close();
  });
});

describe("other programs", () => {
  it("that read never block a writer", async () => {
    const temp = await tempStore();
    await temp.store.registerProject("/work/p");
    const letGo = await holding(temp.home.database, "reading");
    const before = performance.now();
    for (let n = 0; n < 50; n++) await temp.store.workItems.add(newItem("p"));
    expect(performance.now() - before).toBeLessThan(5000);
    await letGo();
    temp.done();
  });

  it("D3 that write are waited for without blocking this process", async () => {
    const temp = await tempStore();
    await temp.store.registerProject("/work/p");
    const letGo = await holding(temp.home.database, "writing");
    let settled = false;
    const added = temp.store.workItems.add(newItem("p")).finally(() => {
      settled = true;
    });
    let ticks = 0;
    while (ticks < 20) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      ticks++;
    }
    expect(settled).toBe(false);
    await letGo();
    expect(await added).toEqual({ ok: true, id: "p-1" });
    temp.done();
  });

  it("D3 that never let go are named as the reason, with a hint", async () => {
    const temp = await tempStore();
    const impatient = await openStore({ home: temp.home, patienceMs: 100 });
    const letGo = await holding(temp.home.database, "writing");
    await expect(impatient.registerProject("/work/p")).rejects.toMatchObject({
      name: "ExternalError",
      message: expect.stringContaining("the database is locked by another program"),
      hint: expect.stringContaining("fuser"),
      retryable: true,
    });
    await letGo();
    impatient.close();
    temp.done();
  });

  it("that write do not keep a reader waiting", async () => {
    const temp = await tempStore();
    await temp.store.registerProject("/work/p");
    const letGo = await holding(temp.home.database, "writing");
    expect(await temp.store.projects()).toEqual([{ id: "p", repoPath: "/work/p" }]);
    await letGo();
    temp.done();
  });
});
