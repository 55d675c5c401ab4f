import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";
import { reworkItem } from "../contract/pull-request-items.js";
import { type Sandbox, sandbox, until } from "./sandbox.js";

/** The board as another part of the program changes it. */
async function withBoard<T>(
  box: Sandbox,
  use: (board: Awaited<ReturnType<typeof openStore>>["workItems"]) => Promise<T>,
): Promise<T> {
  const store = await openStore({ home: ratchetHome(box.env) });
  try {
    return await use(store.workItems);
  } finally {
    store.close();
  }
}
async function json(box: Sandbox, ...args: string[]) {
  return JSON.parse(await box.quick(...args, "--json"));
}
const linesOf = (text: string) => text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));

test("observe prints one event per line, of the time that was asked for", async () => {
  const box = sandbox();
  await box.add("a");
  await box.quick("work", "fail", "a", "--reason", "no key");
  await withBoard(box, (board) =>
    board.appendEvent("shop", "a", { type: "comments_fetch", result: "timeout", part: "inline" }),
  );
  const events = linesOf(await box.quick("observe", "--json"));
  expect(events).toEqual([
    { id: 1, time: expect.any(String), type: "added", project_id: "shop", item_id: "a", title: "Do a" },
    expect.objectContaining({ id: 2, type: "failed", item_id: "a", reason: "no key" }),
    expect.objectContaining({ id: 3, type: "comments_fetch", item_id: "a", result: "timeout", part: "inline" }),
  ]);
  const [, second] = events;
  const times = linesOf(await box.quick("observe", "--since", second.time, "--json"));
  expect(times.map(({ id }) => id)).toContain(2);
  expect(await box.quick("observe", "--since", "1h")).toContain("shop/a  failed  reason=no key");
  expect(await box.quick("observe", "--since", new Date(Date.now() + 60_000).toISOString())).toBe("");
  expect((await box.ratchet("observe", "--since", "5")).code).toBe(2);
});

test("until when an issue is claimed is told alike by whoever tells it, but a run's claim has no end", async () => {
  const box = sandbox();
  await box.add("a");
  const { lease_until: end } = await json(box, "work", "claim", "a");
  expect(end).toBe(new Date(end).toISOString());
  await withBoard(box, async (board) => {
    await board.release("shop", "a", null);
    await board.claim("shop", "a", { holder: "run-1", leaseUntil: null, now: Date.now() });
  });
  const told = [
    linesOf(await box.quick("observe", "--json")),
    (await json(box, "work", "show", "a")).events,
    JSON.parse(await box.quick("export")).events,
  ];
  for (const events of told) {
    const claims = events.filter(({ type }: { type: string }) => type === "claimed");
    expect(claims).toMatchObject([{ lease_until: end }, { holder: "run-1", lease_until: null }]);
  }
  expect(await box.quick("observe")).toContain(`lease_until=${end}`);
});

test("observe --follow tells what other processes do, as they do it", async () => {
  const box = sandbox();
  await box.add("a");
  const following = box.start(["observe", "--follow", "--json"]);
  await until("the first event", () => following.stdout().includes('"added"'));
  await box.quick("work", "block", "a");
  await until("the second event", () => following.stdout().includes('"blocked"'));
  expect(linesOf(following.stdout()).map(({ type }) => type)).toEqual(["added", "blocked"]);
  following.kill("SIGTERM");
  await following.ended;
});

test("observe --follow in a repository that is not known yet waits for its own events and shows nobody else's", async () => {
  const box = sandbox();
  execFileSync("git", ["clone", "--quiet", box.dir, join(box.root, "other")], { env: box.env });
  const other = (...args: string[]) => box.start(args, { cwd: join(box.root, "other") });
  expect((await other("work", "add", "Theirs", "--id", "theirs").ended).code).toBe(0);
  const following = box.start(["observe", "--follow", "--json"]);
  await until("it says that it waits", () => following.stderr().includes("waiting for it to become one"));
  expect((await other("work", "block", "theirs").ended).code).toBe(0);
  await box.add("own");
  await until("the first event", () => following.stdout().includes('"added"'));
  expect(linesOf(following.stdout()).map(({ type, item_id }) => `${type} ${item_id}`)).toEqual(["added own"]);
  following.kill("SIGTERM");
  await following.ended;
  expect(linesOf(await box.quick("observe", "--all", "--json"))).toHaveLength(3);
});

test('S4 search finds "rework-p-pr-42" and what people wrote, whatever else is typed', async () => {
  const box = sandbox();
  await box.add("a", { title: "Fix the login", body: "The cookie\nis lost." });
  await withBoard(box, (board) => board.addOnce(reworkItem("shop")));
  const found = await json(box, "search", "rework-shop-pr-42");
  expect(found).toEqual([expect.objectContaining({ kind: "item", id: "rework-shop-pr-42-cycle-1", source: "rework" })]);
  expect(await json(box, "search", "cookie", "log")).toEqual([
    {
      ...{ kind: "item", id: "a", project_id: "shop", title: "Fix the login", status: "available" },
      ...{ source: "implement", priority: 2, excerpt: "The cookie is lost." },
    },
  ]);
  for (const odd of ['"', "NEAR(", "*", "title:x OR", "'; --"]) {
    expect(await json(box, "search", odd)).toEqual([]);
  }
  expect(await box.quick("search", "nothing of the kind")).toBe("Nothing found.\n");
});

test("export has every project, item and event, and removing a project loses nothing", async () => {
  const box = sandbox();
  await box.add("a");
  await box.add("b", { more: ["--dep", "a"] });
  await withBoard(box, (board) => board.addOnce(reworkItem("shop")));
  const exported = JSON.parse(await box.quick("export"));
  expect(exported).toMatchObject({
    format: "ratchet-board",
    projects: [{ project_id: "shop", repo_path: box.dir }],
    items: [{ id: "a" }, { id: "b", deps: ["a"] }, { id: "rework-shop-pr-42-cycle-1", payload: { pr_number: 42 } }],
    events: [{ type: "added" }, { type: "added" }, { type: "added" }],
  });
  const refused = await box.ratchet("project", "remove", "shop");
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringContaining("shop is not removed: 3 issues are open"),
  ]);
  expect(await json(box, "project", "remove", "shop", "--force")).toMatchObject({ project_id: "shop", removed: true });
  expect(await json(box, "project", "list")).toEqual([]);
  expect(JSON.parse(await box.quick("export"))).toMatchObject({ projects: [], items: [], events: [] });
  expect((await box.ratchet("work", "list", "--project", "shop")).code).toBe(1);
  expect(existsSync(join(box.dir, "README.md"))).toBe(true);
  expect((await json(box, "work", "list")).map(({ id }: { id: string }) => id)).toEqual(
    exported.items.map(({ id }: { id: string }) => id),
  );
});

test("retry lifts an escalation, which is told", async () => {
  const box = sandbox();
  await box.add("a");
  const reason = "Max rework cycles (0) exceeded";
  const event = { type: "human_escalation", prNumber: 42, maxCycles: 0, reason } as const;
  await withBoard(box, (board) => board.escalate("shop", "a", { reason, event }));
  expect(await json(box, "work", "show", "a")).toMatchObject({
    status: "waiting_for_response",
    payload: { human_review_required: true, escalation_reason: reason },
  });
  expect(await json(box, "retry", "a")).toEqual({ id: "a", status: "available" });
  const shown = await json(box, "work", "show", "a");
  expect(shown.payload).toEqual({ source: "implement", human_review_required: false });
  expect(shown.events.at(-1)).toMatchObject({ type: "retried", human_review_required: false });
});

test("S1 work agents names who is at work, alive or dead, and a dead one is swept by the next run", async () => {
  const box = sandbox();
  const go = join(box.root, "go");
  const agent = `cat >/dev/null; until test -e "${go}"; do sleep 0.05; done; echo x >"$RATCHET_ISSUE_ID" && git add -A && git commit -qm work`;
  box.configure({ agent: { type: "command", command: box.script("agent.sh", agent) } });
  await box.add("a");
  await box.add("b", { more: ["--priority", "P3"] });
  await box.quick("work", "claim", "b", "--as", "me");
  const run = box.start(["run", "--json"]);
  const isAt = async (state: string) => {
    const agents: { kind: string; state: string; items: string[] }[] = await json(box, "work", "agents");
    return agents.some((one) => one.kind === "run" && one.state === state && one.items.includes("a"));
  };
  await until("the run holds a", () => isAt("alive"));
  const [first, second] = await json(box, "work", "agents");
  expect(first).toMatchObject({ kind: "run", project_id: "shop", pid: run.pid, items: ["a"], lease_until: null });
  expect(second).toMatchObject({ kind: "claim", name: "me", state: "unknown", items: ["b"] });
  run.kill("SIGKILL");
  await run.ended;
  expect(await isAt("dead")).toBe(true);
  writeFileSync(go, "");
  expect((await box.ratchet("run", "--json")).code).toBe(0);
  expect(await box.status("a")).toBe("completed");
  expect((await json(box, "work", "agents")).map(({ name }: { name: string }) => name)).toEqual(["me"]);
});
