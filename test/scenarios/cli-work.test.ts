import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { program, type Sandbox, sandbox } from "./sandbox.js";

async function json(box: Sandbox, ...args: string[]) {
  const { stdout } = await box.ratchet(...args, "--json");
  return JSON.parse(stdout);
}

test("work add prints the id: its own, or the project's next", async () => {
  const { ratchet } = sandbox();
  expect(await ratchet("work", "add", "First")).toEqual({ code: 0, stdout: "shop-1\n", stderr: "" });
  expect((await ratchet("work", "add", "Second", "--id", "own.id-2")).stdout).toBe("own.id-2\n");
  expect(JSON.parse((await ratchet("work", "add", "Third", "--json")).stdout)).toEqual({ id: "shop-2" });
});

test("work show --json has every key of the contract", async () => {
  const box = sandbox();
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("one");
  await box.add("two", { body: "Text\nof two", more: ["--dep", "one", "--parent", "epic-1", "--priority", "P0"] });
  const shown = await json(box, "work", "show", "two");
  expect(shown).toMatchObject({
    id: "two",
    title: "Do two",
    body: "Text\nof two",
    type: "task",
    parent: "epic-1",
    deps: ["one"],
    priority: 0,
    status: "available",
    claimed_by: null,
    failure_count: 0,
    failure_reason: null,
    payload: null,
  });
  expect(Object.keys(shown)).toContain("source");
  expect(shown.events.map((event: { type: string }) => event.type)).toEqual(["added"]);
});

test("a body comes from standard input, byte for byte", async () => {
  const box = sandbox();
  const input = "first {line}\n$HOME `x` %s ünïcode\n";
  const args = [program, "work", "add", "From stdin", "--id", "in", "--body-file", "-"];
  spawnSync(process.execPath, args, { cwd: box.dir, env: box.env, input });
  expect((await json(box, "work", "show", "in")).body).toBe(input);
  // What could not be kept as it is, is not taken.
  for (const bytes of [Buffer.from("a\0b"), Buffer.from([0xff, 0xfe, 0x41])]) {
    const refused = spawnSync(process.execPath, args.with(5, "no-text"), { cwd: box.dir, env: box.env, input: bytes });
    expect([refused.status, String(refused.stderr)]).toEqual([2, expect.stringContaining("is no text in UTF-8")]);
  }
});

test("work list leaves completed ones out unless --all, and filters by status", async () => {
  const box = sandbox();
  for (const id of ["a", "b", "c"]) await box.add(id);
  await box.ratchet("work", "complete", "a");
  await box.ratchet("work", "block", "b", "--reason", "later");
  const ids = async (...args: string[]) =>
    (await json(box, "work", "list", ...args)).map((item: { id: string }) => item.id);
  expect(await ids()).toEqual(["b", "c"]);
  expect(await ids("--all")).toEqual(["a", "b", "c"]);
  expect(await ids("--status", "blocked,completed")).toEqual(["a", "b"]);
  expect((await box.ratchet("work", "list", "--status", "lost")).code).toBe(2);
});

test.each([
  [["work", "add", "x", "--id", "taken"], 1, "the id taken is taken"],
  [["work", "add", "x", "--id", "no spaces"], 2, "is no valid id"],
  [["work", "add", "x", "--dep", "nobody"], 1, "no item nobody"],
  [["work", "add", "x", "--priority", "P7"], 2, "--priority P7"],
  [["work", "add", "x", "--type", "story"], 2, "--type story"],
  [["work", "add", "x", "--created-at", "soon"], 2, "--created-at soon"],
  [["work", "add", "x", "--project", "other"], 1, "no project other"],
  [["work", "add", "  "], 2, "the title is empty"],
  [["work", "show", "nobody"], 1, "no item nobody"],
  [["work", "release", "taken"], 1, "taken is available, not claimed"],
  [["work", "unblock", "taken"], 1, "taken is available, so it cannot be unblocked"],
  [["work", "block", ""], 1, 'no item "" in shop'],
  [["work", "claim", "taken", "--as", ""], 2, '--as "" is no name'],
  [["work", "claim", "taken", "--as", "a\u001b[31mb"], 2, "is no name"],
  [["work", "dep", "taken", "--on", ","], 2, "--on names no issue"],
  [["work", "dep", "taken", "--on", "nobody", "--remove"], 1, "no item nobody"],
  [["work", "dep", "taken", "--on", "nobody"], 1, "no item nobody"],
  [["retry", "nobody"], 1, "no item nobody"],
  [["work", "complete", "big"], 1, "big is an epic with open issues: taken"],
  [["work", "dep", "done", "--on", "taken"], 1, "done is completed and waits for nothing any more"],
  [["search", "-x"], 2, "unknown option '-x'"],
])("%j is refused with exit %d", async (args, code, message) => {
  const box = sandbox();
  await box.add("big", { more: ["--type", "epic"] });
  await box.add("taken", { more: ["--parent", "big"] });
  await box.add("done");
  await box.quick("work", "complete", "done");
  const plain = await box.ratchet(...args);
  expect(plain).toMatchObject({ code, stdout: "" });
  expect(plain.stderr).toContain(message);
  const { stdout } = await box.ratchet(...args, "--json");
  expect(JSON.parse(stdout).error.message).toContain(message);
});

test("a table in a pipe is as wide as COLUMNS says, and as it needs where nobody says", async () => {
  const box = sandbox();
  await box.add("one", { title: "word ".repeat(30) });
  const widest = ({ stdout }: { readonly stdout: string }) =>
    Math.max(...stdout.split("\n").map((line) => line.length));
  expect(widest(await box.start(["work", "list"], { env: { COLUMNS: "60" } }).ended)).toBeLessThanOrEqual(60);
  expect(widest(await box.ratchet("work", "list"))).toBeGreaterThan(150);
});

test("what begins with a dash is searched for behind --", async () => {
  const box = sandbox();
  await box.add("one", { title: "Take -x" });
  expect((await box.ratchet("search", "-x")).stderr).toContain('ratchet search -- "-…"');
  expect((await box.ratchet("search", "--", "-x")).stdout).toContain("shop/one");
});

test("S1 of many who claim one item at the same time one gets it", async () => {
  const box = sandbox();
  await box.add("one");
  const claims = await Promise.all(Array.from({ length: 8 }, () => box.ratchet("work", "claim", "one", "--json")));
  expect(claims.map(({ code }) => code).sort()).toEqual([0, 1, 1, 1, 1, 1, 1, 1]);
  expect(claims.filter(({ stdout }) => JSON.parse(stdout).claimed === true)).toHaveLength(1);
});

test("an epic is not claimed by hand, nor does it fail, and that is said", async () => {
  const box = sandbox();
  await box.add("big", { more: ["--type", "epic"] });
  expect(await box.ratchet("work", "claim", "big")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("big is an epic, which nobody works on itself"),
  });
  expect(await json(box, "work", "claim", "big")).toEqual({ claimed: false });
  expect(await box.ratchet("work", "fail", "big")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("big is an epic, which nobody works on itself"),
  });
  expect(await json(box, "work", "show", "big")).toMatchObject({ status: "available" });
});

test("a claim that has to wait names what is still open", async () => {
  const box = sandbox();
  for (const id of ["done", "open"]) await box.add(id);
  await box.add("late", { more: ["--dep", "done", "--dep", "open"] });
  await box.ratchet("work", "complete", "done");
  const { code, stderr } = await box.ratchet("work", "claim", "late");
  expect([code, stderr]).toEqual([1, "late waits for open\n"]);
});

test("a claim is kept, given back, and taken by name again and again", async () => {
  const box = sandbox();
  await box.add("one");
  expect(await json(box, "work", "claim", "one", "--as", "me")).toMatchObject({ claimed: true, holder: "me" });
  expect(await json(box, "work", "claim", "one", "--as", "me")).toMatchObject({ claimed: true });
  expect(await json(box, "work", "claim", "one", "--as", "you")).toEqual({ claimed: false });
  const others = await box.ratchet("work", "heartbeat", "one", "--as", "you");
  expect([others.code, others.stderr]).toEqual([1, "ratchet: one is held by me\n  hint: ratchet explain one\n"]);
  expect((await box.ratchet("work", "heartbeat", "one")).code).toBe(0);
  expect((await box.ratchet("work", "release", "one", "--as", "you")).code).toBe(1);
  expect((await box.ratchet("work", "release", "one")).code).toBe(0);
  expect(await json(box, "work", "claim")).toMatchObject({ claimed: true, id: "one" });
  expect(await json(box, "work", "claim")).toEqual({ claimed: false });
});

test("S2 the third failure quarantines; only retry brings it back", async () => {
  const box = sandbox();
  await box.add("one");
  const fail = async () => (await json(box, "work", "fail", "one", "--reason", "no luck")).status;
  expect([await fail(), await fail(), await fail()]).toEqual(["available", "available", "quarantined"]);
  expect((await box.ratchet("work", "unblock", "one")).code).toBe(1);
  expect((await box.ratchet("retry", "one")).code).toBe(0);
  expect(await json(box, "work", "show", "one")).toMatchObject({ status: "available", failure_count: 0 });
});

test("S2 the third failure quarantines, also where it is a run's; a resume's does not, and retry brings it back", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("fails.sh", "cat >/dev/null; exit 3") } });
  await box.add("epic-1", { more: ["--type", "epic"] });
  await box.add("one", { more: ["--parent", "epic-1"] });
  await box.add("later", { more: ["--dep", "one"] });
  await box.add("two");
  for (const id of ["one", "one", "two"]) await box.quick("work", "fail", id);
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(1);
  const ends = run.stdout.split("\n").filter((line) => line.includes('"issue-finished"'));
  expect(
    ends
      .map((line) => JSON.parse(line))
      .map((end) => `${end.issue_id} ${end.quarantined}`)
      .sort(),
  ).toEqual(["one true", "two undefined"]);
  expect(await box.quick("logs", "show", "last")).toMatch(/one · quarantined[\s\S]*one is quarantined/);
  const how = async (id: string) => {
    const { status, failure_count } = JSON.parse(await box.quick("work", "show", id, "--json"));
    return `${status} ${failure_count}`;
  };
  expect([await how("one"), await how("later"), await how("two")]).toEqual([
    "quarantined 3",
    "available 0",
    "failed 2",
  ]);
  // What was never begun begins in a run that resumes, too.
  await box.add("new");
  for (const _ of [1, 2]) await box.quick("work", "fail", "new");
  expect((await box.ratchet("run", "--resume")).code).toBe(1);
  expect([await how("one"), await how("two"), await how("new")]).toEqual([
    "quarantined 3",
    "failed 3",
    "quarantined 3",
  ]);
  expect(JSON.parse(await box.quick("explain", "one", "--json"))).toMatchObject({
    state: "quarantined",
    reason: expect.stringContaining("quarantined after 3 failures: agent_failed"),
    next: "ratchet retry one",
  });
  const named = await box.ratchet("run", "--resume", "one");
  expect([named.code, named.stderr]).toEqual([1, expect.stringContaining("quarantined, use ratchet retry one")]);
  await box.quick("retry", "one");
  expect((await box.ratchet("run", "one")).code).toBe(1);
  expect(await how("one")).toBe("failed 1");
});

test("S3 dependencies are added, removed and never go in circles", async () => {
  const box = sandbox();
  for (const id of ["a", "b", "c"]) await box.add(id);
  expect((await json(box, "work", "dep", "b", "--on", "a", "--on", "a")).deps).toEqual(["a"]);
  expect((await box.ratchet("work", "dep", "c", "--on", "b")).code).toBe(0);
  const circle = await box.ratchet("work", "dep", "a", "--on", "c");
  expect([circle.code, circle.stderr]).toEqual([1, expect.stringContaining("circle")]);
  expect(await json(box, "work", "claim", "b")).toEqual({ claimed: false });
  expect((await json(box, "work", "dep", "b", "--on", "a", "--remove")).deps).toEqual([]);
  expect(await json(box, "work", "claim", "b")).toMatchObject({ claimed: true });
});

test("S3 several dependencies are named behind one option, and nothing else is taken for one", async () => {
  const box = sandbox();
  for (const id of ["a", "b", "c"]) await box.add(id);
  expect((await json(box, "work", "dep", "c", "--on", "a", "b")).deps).toEqual(["a", "b"]);
  expect((await json(box, "work", "dep", "c", "--on", "b", "a", "--remove")).deps).toEqual([]);
  expect((await json(box, "work", "dep", "c", "--on", "a,b")).deps).toEqual(["a", "b"]);
  expect((await json(box, "work", "dep", "--on", "a", "b")).deps).toEqual(["a"]);
  await box.quick("work", "add", "Last", "--id", "d", "--dep", "a", "b", "--priority", "P1");
  expect(await json(box, "work", "show", "d")).toMatchObject({ title: "Last", deps: ["a", "b"], priority: 1 });
  await box.quick("work", "add", "--id", "e", "--dep", "a", "A title");
  expect(await json(box, "work", "show", "e")).toMatchObject({ title: "A title", deps: ["a"] });
});

test("projects are known by their folder's name and can be named from elsewhere", async () => {
  const box = sandbox();
  expect((await box.ratchet("project", "add")).stdout).toBe("shop\n");
  expect(await json(box, "project", "list")).toEqual([{ project_id: "shop", repo_path: box.dir }]);
  const { code } = await box.start(["work", "add", "x", "--project", "shop"], { cwd: box.root }).ended;
  expect(code).toBe(0);
  expect((await box.ratchet("project", "add", "nowhere")).code).toBe(1);
});
