import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { beadsTracker, missingBeads } from "../../src/trackers/beads.js";
import { type BeadsWorld, beadsWorld } from "./beads-world.js";
import { until } from "./process-support.js";

const all = { scope: { type: "all" }, resume: false, limit: 50 } as const;
const resume = { ...all, resume: true } as const;

const worlds: BeadsWorld[] = [];
afterEach(() => {
  for (const world of worlds.splice(0)) world.done();
});
function open(options: Parameters<typeof beadsWorld>[0] = { program: "bd" }): BeadsWorld {
  const world = beadsWorld(options);
  worlds.push(world);
  return world;
}
const idsOf = async (world: BeadsWorld, query: Parameters<BeadsWorld["tracker"]["ready"]>[0] = all) =>
  (await world.tracker.ready(query)).map(({ id }) => id);

/** An issue that is in progress is not shown, so many times. */
function showsNothing(world: BeadsWorld, times: number): void {
  world.change((state) => state.faults.push({ command: "show", times, prints: "[]\n", claimed: true }));
}

describe.each([{ program: "bd" as const }, { program: "br" as const }])("with $program", (options) => {
  test("D3 a call that fails is tried three times, and then it is an error, never no work", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    world.change((state) => state.faults.push({ command: "ready", times: 2 }));
    expect(await idsOf(world)).toEqual(["one"]);
    world.change((state) => state.faults.push({ command: "ready", times: 3, code: 2, say: "Error: disk I/O error" }));
    await expect(world.tracker.ready(all)).rejects.toMatchObject({
      name: "ExternalError",
      what: "tracker",
      message: `${options.program} ready failed (exit code 2): Error: disk I/O error`,
    });
    world.change((state) => state.faults.push({ command: "ready", times: 3, code: "SIGKILL", say: "" }));
    await expect(world.tracker.ready(all)).rejects.toThrow(
      new RegExp(`^${options.program} ready was killed \\(SIGKILL\\)`),
    );
    expect(await idsOf(world)).toEqual(["one"]);
  });

  test("D3 what the program says of its failure on stdout is told like anything else, cut to a length", async () => {
    const world = open(options);
    const fails = (say: string) =>
      world.change((state) => state.faults.push({ command: "ready", times: 3, say, stdout: true }));
    fails("working\nError: boom on stdout\nsee the log");
    await expect(world.tracker.ready(all)).rejects.toThrow(/ready failed \(exit code 1\): Error: boom on stdout$/);
    fails("x".repeat(5000));
    await expect(world.tracker.ready(all)).rejects.toThrow(/: x{300}$/);
  });

  test("C8 what has failed is ready again once the last of what it waits for is closed after that, and once only", async () => {
    const world = open(options);
    for (const id of ["one", "lib", "other"]) await world.add({ id });
    const { tracker } = world;
    const fail = async (id: string, run: string) => {
      await tracker.claim(id, run);
      await tracker.fail(id, run, "it lacks lib");
    };
    const close = async (id: string) => {
      await tracker.claim(id, "run-1");
      await tracker.complete(id, "run-1", { commit: null, note: "done" });
    };
    await fail("one", "run-1");
    world.change(({ issues }) => Object.assign(issues[0] ?? {}, { deps: ["lib", "other"] }));
    await close("lib");
    expect([await idsOf(world), (await tracker.get("one"))?.status]).toEqual([["other"], "failed"]);
    await close("other");
    expect(await tracker.ready(all)).toMatchObject([{ id: "one", status: "available" }]);
    expect(await tracker.get("one")).toMatchObject({ status: "available", changedAt: expect.any(Number) });
    await fail("one", "run-2");
    expect([await idsOf(world), await idsOf(world, resume)]).toEqual([[], ["one"]]);
    // Closed by a machine whose clock is ahead: it would be free after each failure.
    const later = new Date(Date.now() + 3_600_000).toISOString();
    world.change(({ issues }) => Object.assign(issues[2] ?? {}, { closed_at: later }));
    expect(await idsOf(world)).toEqual([]);
  });

  test("a claim is passed on, and whoever has it tells the end", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    const claim = { from: "run-1", to: "pull-request:shop:7" };
    await world.tracker.claim("one", "run-1");
    await world.tracker.pass?.("one", claim);
    await world.tracker.pass?.("one", claim);
    expect(world.issue("one")).toMatchObject({ status: "in_progress", assignee: `ratchet/${claim.to}` });
    await expect(world.tracker.complete("one", "run-1", { commit: null, note: "" })).rejects.toThrow("no longer held");
    await world.tracker.complete("one", claim.to, { commit: "c0ffee", note: "merged" });
    expect(world.issue("one")).toMatchObject({ status: "closed" });
  });

  test("what became of an issue is told in the tracker's own words", async () => {
    const world = open(options);
    for (const id of ["done", "broken", "stuck", "stopped"]) {
      await world.add({ id });
      await world.tracker.claim(id, "run-1");
    }
    expect(world.issue("done")).toMatchObject({ status: "in_progress", assignee: "ratchet/run-1" });
    await world.tracker.complete("done", "run-1", { commit: "c0ffee", note: "landed on main" });
    world.change(({ issues }) => Object.assign(issues[1] ?? {}, { notes: "from a person" }));
    await world.tracker.fail("broken", "run-1", "gate_failed");
    await world.tracker.fail("broken", "run-1", "gate_failed");
    await world.tracker.escalate("stuck", "run-1", "3 conflicts");
    await world.tracker.release("stopped", "run-1");
    expect(world.issue("done")).toMatchObject({ status: "closed", close_reason: "landed on main (commit c0ffee)" });
    expect(world.issue("broken")).toMatchObject({ status: "open", assignee: "", labels: ["needs-followup"] });
    expect(world.issue("broken").notes).toBe(
      "from a person\n\nRatchet run run-1 failed: gate_failed (ratchet logs show run-1)",
    );
    expect(world.issue("stuck")).toMatchObject({ status: "open", assignee: "", labels: ["human-review"] });
    expect(world.issue("stuck").notes).toContain("3 conflicts");
    expect(world.issue("stopped")).toMatchObject({ status: "open", assignee: "", labels: ["ratchet-stopped"] });
    await world.tracker.claim("broken", "run-2");
    expect(world.issue("broken")).toMatchObject({ status: "in_progress", assignee: "ratchet/run-2", labels: [] });
  });

  test("a claim that somebody else wins at the same moment is lost, not an error", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    world.change((state) => state.lose.push("one"));
    expect(await world.tracker.claim("one", "run-1")).toBe(false);
    expect(world.issue("one").assignee).toBe("somebody/else");
  });

  test("a claim that fails for another reason is tried again, and then it is an error", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    world.change((state) => state.faults.push({ command: "update", times: 1 }));
    expect(await world.tracker.claim("one", "run-1")).toBe(true);
    await world.add({ id: "two" });
    world.change((state) => state.faults.push({ command: "update", times: 3 }));
    await expect(world.tracker.claim("two", "run-1")).rejects.toThrow("update two failed (exit code 1)");
  });

  test.each(["gives it the run's name", "cannot"])(
    "a claim that the program enters under a name of its own is won, and whoever claimed it %s",
    async (how) => {
      const world = open(options);
      await world.add({ id: "one" });
      const stubborn = how === "cannot" ? { BD_STUB_STUBBORN: "1" } : {};
      const env = { ...world.env, BD_STUB_CLAIMS_AS: "jo", ...stubborn };
      const tracker = beadsTracker({ cwd: world.root, env });
      expect(await tracker.claim("one", "run-1")).toBe(true);
      expect(world.issue("one")).toMatchObject({ assignee: how === "cannot" ? "jo" : "ratchet/run-1" });
      expect(await tracker.claim("one", "run-2")).toBe(false);
      await tracker.complete("one", "run-1", { commit: "c0ffee", note: "landed" });
      expect(world.issue("one").status).toBe("closed");
    },
  );

  test("a claim under a name that the run cannot change is its own in its next process, too, and goes on to its pull request", async () => {
    const world = open(options);
    for (const id of ["one", "two"]) await world.add({ id });
    const env = { ...world.env, BD_STUB_CLAIMS_AS: "jo", BD_STUB_STUBBORN: "1" };
    const next = () => beadsTracker({ cwd: world.root, env }, world.takeOver);
    for (const id of ["one", "two"]) expect(await next().claim(id, "run-1")).toBe(true);
    expect([await next().claim("one", "run-1"), await next().claim("one", "run-2")]).toEqual([true, false]);
    const claim = { from: "run-1", to: "pull-request:shop:7" };
    await next().pass?.("two", claim);
    await next().pass?.("two", claim);
    await next().release("one", "run-1");
    await next().complete("two", claim.to, { commit: null, note: "" });
    expect([world.issue("one").status, world.issue("two").status]).toEqual(["open", "closed"]);
    world.change(({ issues }) => Object.assign(issues[0] ?? {}, { status: "in_progress", assignee: "jo" }));
    expect(await next().claim("one", "run-1")).toBe(false);
  });

  test("a claim that the tracker does not show is none, whatever its exit code", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    world.change((state) => state.faults.push({ command: "update", times: 1, prints: "[]\n" }));
    expect(await world.tracker.claim("one", "run-1")).toBe(true);
    expect(world.issue("one").assignee).toBe("ratchet/run-1");
    await world.add({ id: "two" });
    world.change((state) => state.faults.push({ command: "update", times: 3, prints: "[]\n" }));
    await expect(world.tracker.claim("two", "run-1")).rejects.toThrow("claims nothing");
  });

  test("D3 a claimed issue that the program does not know is asked for again, and then an error, nobody else's claim", async () => {
    const world = open(options);
    for (const id of ["one", "two"]) await world.add({ id });
    showsNothing(world, 1);
    expect(await world.tracker.claim("one", "run-1")).toBe(true);
    showsNothing(world, 3);
    const message = `${options.program} show two does not know the issue that was claimed`;
    const error = { name: "ExternalError", what: "tracker", retryable: true, isDone: true, message };
    await expect(world.tracker.claim("two", "run-1")).rejects.toMatchObject(error);
    showsNothing(world, 1);
    await world.tracker.release("two", "run-1", { claimed: true });
    expect(world.issue("two")).toMatchObject({ status: "open", assignee: "" });
  });

  test("D3 an issue that is changed and not shown is asked for again, and then it is an error, never told", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    await world.tracker.claim("one", "run-1");
    const complete = () => world.tracker.complete("one", "run-1", { commit: "c0ffee", note: "done" });
    // Nothing is done, and the look that would tell shows nothing.
    const keepsSilent = (times: number) =>
      world.change(({ faults }) => {
        faults.splice(0, faults.length, { command: "close", times: 1, prints: "[]\n" });
        faults.push({ command: "show", times, prints: "[]\n", skip: 1 });
      });
    keepsSilent(3);
    const message = `${options.program} show one does not know the issue that was changed`;
    await expect(complete()).rejects.toMatchObject({ name: "ExternalError", retryable: true, message });
    expect(world.issue("one").status).toBe("in_progress");
    keepsSilent(1);
    await complete();
    expect(world.issue("one").status).toBe("closed");
  });

  test("D3 issues that are listed and not shown are asked for again, and then it is an error, never no work", async () => {
    const world = open(options);
    for (const id of ["one", "two"]) await world.add({ id });
    await world.add({ id: "epic", type: "epic" });
    const knowsNone = (times: number) =>
      world.change(({ faults }) => faults.splice(0, faults.length, { command: "show", times, prints: "null\n" }));
    knowsNone(2);
    expect(await idsOf(world)).toEqual(["one", "two"]);
    const message = `${options.program} show knows none of the issues that are listed: one, two`;
    for (const query of [all, resume]) {
      knowsNone(3);
      await expect(world.tracker.ready(query)).rejects.toMatchObject({
        name: "ExternalError",
        retryable: true,
        message,
      });
    }
    knowsNone(3);
    const due = world.tracker.epics?.due({ scope: all.scope, holder: "run-1" });
    await expect(due).rejects.toThrow("show knows none of the issues that are listed: epic");
  });

  test("an issue that is deleted between two questions is left out, also where it was the only one", async () => {
    const world = open(options);
    for (const id of ["one", "two"]) await world.add({ id });
    // Listed once more than they are there.
    const listed = (...ids: string[]) =>
      world.change(({ issues, faults }) => {
        const prints = JSON.stringify(issues.filter(({ id }) => ids.includes(id)));
        issues.splice(0, issues.length, ...issues.filter(({ id }) => id !== ids[0]));
        faults.push({ command: "ready", times: 1, prints });
      });
    listed("one", "two");
    expect(await idsOf(world)).toEqual(["two"]);
    listed("two");
    expect(await idsOf(world)).toEqual([]);
  });

  test("D3 that an issue is held is not doubted for one answer without it", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    await world.tracker.claim("one", "run-1");
    showsNothing(world, 1);
    await world.tracker.fail("one", "run-1", "gate_failed");
    expect(world.issue("one")).toMatchObject({ status: "open", labels: ["needs-followup"] });
  });

  test("D3 what became of an issue is not told by a success that changes nothing", async () => {
    const world = open(options);
    const { tracker } = world;
    await world.add({ id: "one" });
    await tracker.claim("one", "run-1");
    const complete = () => tracker.complete("one", "run-1", { commit: "c0ffee", note: "done" });
    const tellings = [
      ["close", '[{"id": "one", "sta', "", complete],
      ["update", "[]\n", "", () => tracker.fail("one", "run-1", "gate_failed")],
      ["update", '{"error": "read-only"}\n', ": read-only", () => tracker.release("one", "run-1")],
      ["update", "", "", async () => tracker.pass?.("one", { from: "run-1", to: "pull-request:shop:7" })],
    ] as const;
    for (const [command, prints, said, tell] of tellings) {
      world.change((state) => state.faults.push({ command, times: 3, prints }));
      const message = `${options.program} ${command} one succeeds and changes nothing${said}`;
      const error = { name: "ExternalError", what: "tracker", retryable: true, message };
      await expect(tell()).rejects.toMatchObject(error);
    }
    expect(world.issue("one")).toMatchObject({ status: "in_progress", labels: [] });
    world.change((state) => state.faults.push({ command: "close", times: 1, prints: "[]\n" }));
    await complete();
    expect(world.issue("one").status).toBe("closed");
  });

  test("a follow-up that answers success and keeps nothing of it is an error", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    const tell = (body: string) => world.tracker.followUp("one", { title: "Follow-up of one", body });
    world.change((state) => state.faults.push({ command: "create", times: 3, prints: "[]\n" }));
    await expect(tell("a")).rejects.toMatchObject({
      retryable: true,
      message: expect.stringContaining("made no issue"),
    });
    await tell("a");
    world.change((state) => state.faults.push({ command: "update", times: 3, prints: "[]\n" }));
    await expect(tell("b")).rejects.toMatchObject({ retryable: true });
  });

  test("texts arrive as they are, whatever a shell or an option parser would make of them", async () => {
    const world = open(options);
    await world.add({ id: "one" });
    const nasty = "--json $(touch pwned) `id` \"quoted\" 'it' \\n %s\n\nsecond; rm -rf *";
    const { id } = await world.tracker.followUp("one", { title: "--claim of one", body: nasty });
    expect(await world.tracker.get(id)).toMatchObject({ title: "claim of one", body: expect.stringContaining(nasty) });
    expect(world.issue(id)).toMatchObject({ labels: ["review-followup"], links: ["one"] });
    await world.tracker.claim("one", "run-1");
    await world.tracker.fail("one", "run-1", nasty);
    expect(world.issue("one").notes).toContain(nasty);
  });
});

test("a follow-up whose creation only seemed to fail is not made twice", async () => {
  const world = open();
  await world.add({ id: "one" });
  world.change((state) => state.faults.push({ command: "create", times: 1, after: true, say: "Error: no answer" }));
  const { id } = await world.tracker.followUp("one", { title: "Follow-up of one", body: "a" });
  expect(world.state().issues.map((issue) => issue.id)).toEqual(["one", id]);
});

test("a follow-up of an issue with a blank in its id is known as that issue's, and there is one", async () => {
  const world = open();
  await world.add({ id: "one two" });
  const tell = (body: string) => world.tracker.followUp("one two", { title: "Follow-up", body });
  const { id } = await tell("a");
  expect([await world.tracker.get(id), await tell("b")]).toMatchObject([{ followUpOf: "one two" }, { id }]);
});

test("a follow-up whose description was written anew is one by its label, and nobody's", async () => {
  const world = open();
  for (const id of ["one", "two"]) await world.add({ id });
  const { id } = await world.tracker.followUp("one", { title: "Follow-up", body: "a" });
  world.change(({ issues }) => Object.assign(issues.find((each) => each.id === id) ?? {}, { description: "Tidy up" }));
  expect(await world.tracker.get(id)).toMatchObject({ followUpOf: "" });
  expect((await world.tracker.followUp("two", { title: "Follow-up", body: "b" })).id).not.toBe(id);
});

test("a follow-up that is closed is left alone: later findings get a new one", async () => {
  const world = open();
  await world.add({ id: "one" });
  await world.add({ id: "one-more" });
  const { id: first } = await world.tracker.followUp("one", { title: "Follow-up of one", body: "a" });
  expect((await world.tracker.followUp("one-more", { title: "Another", body: "a" })).id).not.toBe(first);
  world.change(({ issues }) => Object.assign(issues.find(({ id }) => id === first) ?? {}, { status: "closed" }));
  const { id: second } = await world.tracker.followUp("one", { title: "Follow-up of one", body: "b" });
  expect(second).not.toBe(first);
  expect(world.issue(first).description).not.toContain("b");
});

test("a follow-up too long for an argument says how much is left out", async () => {
  const world = open();
  await world.add({ id: "one" });
  const body = Array.from({ length: 50 }, (_, index) => `${index} ${"é".repeat(2000)}`).join("\n\n");
  const { id } = await world.tracker.followUp("one", { title: "Follow-up of one", body });
  expect(world.issue(id).description).toMatch(/\(\d+ more: ratchet findings one --all\)$/);
});

test.each([
  ["prose", "No open issues\n", "is not JSON: No open issues"],
  ["nothing", "", "is not JSON: nothing"],
  ["another shape", '{"count": 0}', 'is not a list of issues: {"count": 0}'],
])("D3 %s in place of the issues is an error", async (_what, prints, message) => {
  const world = open();
  await world.add({ id: "one" });
  world.change((state) => state.faults.push({ command: "ready", times: 1, prints }));
  await expect(world.tracker.ready(all)).rejects.toThrow(`the answer of bd ready ${message}`);
});

test("D3 a tracker without its database is an error, not an issue that does not exist", async () => {
  const world = open();
  world.change((state) => state.faults.push({ command: "show", times: 3, say: "Error: database not found for one" }));
  await expect(world.tracker.get("one")).rejects.toThrow("bd show one failed");
});

test.each([
  "Error: issue nope not found\nHint: bd list shows the issues",
  "Error: no such issue: nope",
  "Issue not found",
  "Error: not found",
  'Error: no issue matching "nope"',
  '{\n  "error": {\n    "code": "ISSUE_NOT_FOUND",\n    "message": "Issue not found: nope"\n  }\n}',
])("an issue that does not exist is none, however the program says so: %j", async (say) => {
  const world = open();
  world.change((state) => state.faults.push({ command: "show", times: 1, say }));
  expect(await world.tracker.get("nope")).toBeNull();
  expect(world.state().calls).toHaveLength(1);
});

test("a part of an id is not the id", async () => {
  const world = open();
  await world.add({ id: "one-12" });
  expect(await world.tracker.get("one-1")).toBeNull();
  expect(await world.tracker.claim("one-1", "run-1")).toBe(false);
  expect(await world.tracker.get("--help")).toBeNull();
});

test("what the program normally leaves out of a long list is seen", async () => {
  const world = open();
  for (let index = 10; index < 60; index++) await world.add({ id: `i-${index}` });
  await world.add({ id: "urgent", priority: 0 });
  expect(await idsOf(world, { ...all, limit: 100 })).toHaveLength(51);
  expect(await idsOf(world, { ...all, limit: 1 })).toEqual(["urgent"]);
});

test("an epic's issues are found at any depth", async () => {
  const world = open({ program: "br" });
  await world.add({ id: "top", type: "epic" });
  await world.add({ id: "middle", type: "epic", parent: "top" });
  await world.add({ id: "deep", parent: "middle" });
  await world.add({ id: "other" });
  expect(await idsOf(world, { ...all, scope: { type: "epic", epic: "top" } })).toEqual(["deep"]);
});

test("what a person has planned for somebody is not taken", async () => {
  const world = open();
  await world.add({ id: "one" });
  world.change(({ issues }) => Object.assign(issues[0] ?? {}, { assignee: "jo" }));
  expect(await idsOf(world, resume)).toEqual([]);
  expect(await world.tracker.claim("one", "run-1")).toBe(false);
});

test("a resume takes over from runs that are over, once, and from nobody else", async () => {
  const world = open({ program: "bd", over: ["run-1"] });
  for (const [id, assignee] of Object.entries({ dead: "ratchet/run-1", alive: "ratchet/run-2", jos: "jo", free: "" })) {
    await world.add({ id });
    world.change(({ issues }) => Object.assign(issues.at(-1) ?? {}, { status: "in_progress", assignee }));
  }
  expect(await idsOf(world)).toEqual([]);
  expect(await idsOf(world, resume)).toEqual(["dead", "free"]);
  const won = await Promise.all(["run-3", "run-4"].map((run) => world.tracker.claim("dead", run)));
  expect(won.filter(Boolean)).toHaveLength(1);
  expect(world.issue("dead").assignee).toBe(won[0] ? "ratchet/run-3" : "ratchet/run-4");
  expect(await world.tracker.claim("alive", "run-3")).toBe(false);
  expect(await world.tracker.standing?.("alive")).toEqual({
    claim: { holder: "run-2", isOver: false },
    obstacle: null,
  });
  expect(await world.tracker.standing?.("jos")).toMatchObject({ obstacle: { reason: "it is assigned to jo" } });
  expect(await world.tracker.standing?.("free")).toEqual({ claim: null, obstacle: null });
});

describe("whoever asks may leave", () => {
  /** The program hangs where it is called with `text` while the issues' file has `state` in it. */
  function hanging(world: BeadsWorld, text: string, state: string): () => boolean {
    const bd = join(world.root, "bin", "bd");
    const hang = `case "$*" in *"${text}"*) sleep 600 & echo $! >"$BD_STUB_FILE.child"; wait ;; esac`;
    const own = `if grep -q ${state} "$BD_STUB_FILE"; then ${hang}; fi\nexec `;
    writeFileSync(bd, readFileSync(bd, "utf8").replace("exec ", own));
    return () => /\d/.test(childOf(world));
  }
  const childOf = ({ root }: BeadsWorld): string => {
    const file = join(root, "issues.json.child");
    return existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  };
  const ask = ({ tracker }: BeadsWorld) => {
    const left = new AbortController();
    const asked = tracker.askedBy?.({ signal: left.signal, onSlow: () => undefined });
    if (!asked) throw new Error("nobody can leave");
    return { asked, leave: () => left.abort(new Error("enough")) };
  };
  const failed = { name: "ExternalError", what: "tracker", retryable: true };

  test("then a question has failed, nothing is tried again, and the program is gone with what it had started", async () => {
    const world = open();
    await world.add({ id: "one" });
    const isHanging = hanging(world, "ready", "open");
    const { asked, leave } = ask(world);
    const answer = asked.ready(all).then(String, (error: unknown) => error);
    await until("it hangs", isHanging);
    leave();
    expect(await answer).toMatchObject({ ...failed, message: "bd ready gave no answer: enough", isDone: false });
    await until("its child is gone", () => !existsSync(`/proc/${childOf(world)}`));
    await expect(asked.claim("one", "run-1")).rejects.toMatchObject(failed);
    expect(world.state().calls).toEqual([]);
  });

  test("one that was never made takes nothing from a person who has the issue since", async () => {
    const world = open();
    await world.add({ id: "one" });
    const isHanging = hanging(world, "--claim", "open");
    const { asked, leave } = ask(world);
    const won = asked.claim("one", "run-1").then(String, (error: unknown) => error);
    await until("it hangs", isHanging);
    leave();
    expect(await won).toMatchObject({ ...failed, isDone: false });
    const later = new Date(Date.now() + 3_600_000).toISOString();
    const taken = { status: "in_progress", assignee: "ann", updated_at: later };
    world.change(({ issues }) => Object.assign(issues[0] ?? {}, taken));
    expect(await world.tracker.claim("one", "run-1")).toBe(false);
    await world.tracker.release("one", "run-1");
    expect(world.issue("one")).toMatchObject(taken);
  });

  test("a claim that had been made is known to be made", async () => {
    const world = open();
    await world.add({ id: "one" });
    const isHanging = hanging(world, "show one", "in_progress");
    const { asked, leave } = ask(world);
    const won = asked.claim("one", "run-1").then(String, (error: unknown) => error);
    await until("it hangs", isHanging);
    leave();
    expect(await won).toMatchObject({ ...failed, isDone: true });
    expect(world.issue("one")).toMatchObject({ status: "in_progress", assignee: "ratchet/run-1" });
  });
});

test("a helper that the program leaves in the background keeps nobody waiting", async () => {
  const { root } = open();
  const place = { cwd: root, env: { PATH: `${join(root, "own")}:/usr/bin:/bin` } };
  mkdirSync(join(root, "own"));
  writeFileSync(join(root, "own", "bd"), `#!/bin/sh\nsleep 60 &\necho $! >"${root}/helper"\necho '[]'\n`, {
    mode: 0o755,
  });
  const started = Date.now();
  expect(await beadsTracker(place).ready(all)).toEqual([]);
  expect(Date.now() - started).toBeLessThan(30_000);
  process.kill(Number(readFileSync(join(root, "helper"), "utf8")), "SIGKILL");
});

test("neither program on PATH is said before anything starts, with a hint", async () => {
  const { root } = open();
  const place = { cwd: root, env: { PATH: root } };
  expect(missingBeads(place)).toMatchObject({ message: expect.stringContaining("neither bd nor br") });
  await expect(beadsTracker(place).ready(all)).rejects.toMatchObject({
    hint: expect.stringContaining("install beads"),
  });
});
