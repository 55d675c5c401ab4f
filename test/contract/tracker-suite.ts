import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Tracker } from "../../src/core/ports/tracker.js";

/** What the suite needs of a tracker's own world: issues to be there before the tracker is asked. */
export interface TrackerWorld {
  readonly tracker: Tracker;
  add(issue: {
    readonly id: string;
    readonly type?: "task" | "epic";
    readonly parent?: string;
    readonly deps?: readonly string[];
    readonly priority?: number;
  }): Promise<void>;
  done(): void;
}

const all = { scope: { type: "all" }, resume: false, limit: 50 } as const;

/** Every tracker keeps these promises. */
export function testTracker(name: string, make: () => Promise<TrackerWorld>): void {
  describe(`the ${name} tracker`, () => {
    let world: TrackerWorld;
    let tracker: Tracker;
    beforeEach(async () => {
      world = await make();
      tracker = world.tracker;
    });
    afterEach(() => world.done());

    const ready = async (query: Parameters<Tracker["ready"]>[0] = all) =>
      (await tracker.ready(query)).map((issue) => issue.id);

    it("offers what may start, best first: no epic, nothing that waits for another", async () => {
      await world.add({ id: "epic", type: "epic" });
      await world.add({ id: "low", priority: 3, parent: "epic" });
      await world.add({ id: "high", priority: 1 });
      await world.add({ id: "later", deps: ["low"] });
      expect(await ready()).toEqual(["high", "low"]);
      expect(await ready({ ...all, limit: 1 })).toEqual(["high"]);
    });

    it("narrows by scope", async () => {
      await world.add({ id: "epic", type: "epic" });
      await world.add({ id: "child", parent: "epic" });
      await world.add({ id: "lone" });
      expect(await ready({ ...all, scope: { type: "epic", epic: "epic" } })).toEqual(["child"]);
      expect(await ready({ ...all, scope: { type: "orphans" } })).toEqual(["lone"]);
      expect(await ready({ ...all, scope: { type: "ids", ids: ["child", "nobody"] } })).toEqual(["child"]);
    });

    it("tells an issue, and that there is none", async () => {
      await world.add({ id: "first" });
      await world.add({ id: "one", priority: 1, deps: ["first"] });
      expect(await tracker.get("one")).toMatchObject({ id: "one", priority: 1, deps: ["first"], status: "available" });
      expect(await tracker.get("nobody")).toBeNull();
    });

    it("gives an issue to one holder, who may ask again", async () => {
      await world.add({ id: "one" });
      expect(await tracker.claim("one", "run-1")).toBe(true);
      expect(await tracker.claim("one", "run-1")).toBe(true);
      expect(await tracker.claim("one", "run-2")).toBe(false);
      expect(await tracker.claim("nobody", "run-1")).toBe(false);
      expect(await ready()).toEqual([]);
    });

    it("closes what succeeded and frees what waited for it; saying so twice changes nothing", async () => {
      await world.add({ id: "one" });
      await world.add({ id: "next", deps: ["one"] });
      await tracker.claim("one", "run-1");
      const done = { commit: "c0ffee", note: "done" };
      await tracker.complete("one", "run-1", done);
      await tracker.complete("one", "run-1", done);
      expect((await tracker.get("one"))?.status).toBe("completed");
      expect(await ready()).toEqual(["next"]);
      expect(await tracker.claim("one", "run-2")).toBe(false);
    });

    it("keeps what failed out of the queue until a resume, which takes it first", async () => {
      await world.add({ id: "fresh", priority: 0 });
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.fail("one", "run-1", "gate_failed");
      expect((await tracker.get("one"))?.status).toBe("failed");
      expect(await ready()).toEqual(["fresh"]);
      expect(await ready({ ...all, resume: true })).toEqual(["one", "fresh"]);
      expect(await tracker.claim("one", "run-2")).toBe(true);
    });

    it("offers a released issue again; releasing twice changes nothing", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.release("one", "run-1");
      expect(await tracker.claim("one", "run-2")).toBe(true);
      await tracker.release("one", "run-1");
      expect(await tracker.claim("one", "run-3")).toBe(false);
    });

    it("takes what was stopped first when it resumes", async () => {
      await world.add({ id: "fresh", priority: 0 });
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.release("one", "run-1");
      expect(await ready()).toEqual(["fresh", "one"]);
      expect(await ready({ ...all, resume: true })).toEqual(["one", "fresh"]);
    });

    it("decides between two that claim at once", async () => {
      await world.add({ id: "one" });
      const won = await Promise.all(["run-1", "run-2", "run-3"].map((run) => tracker.claim("one", run)));
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    it("gives an escalated issue to nobody, until a person asks for it", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.escalate("one", "run-1", "merge rounds used up");
      expect((await tracker.get("one"))?.status).toBe("waiting_for_response");
      expect(await ready({ ...all, resume: true })).toEqual([]);
      expect(await tracker.claim("one", "run-2")).toBe(false);
      expect(await tracker.claim("one", "run-3", { any: true })).toBe(true);
      expect((await tracker.get("one"))?.status).toBe("claimed");
      await tracker.fail("one", "run-3", "gate_failed");
      expect((await tracker.get("one"))?.status).toBe("failed");
    });

    it("lets nobody end what another holds", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await expect(tracker.fail("one", "run-2", "x")).rejects.toMatchObject({ name: "ExternalError" });
      await expect(tracker.complete("one", "run-2", { commit: null, note: "" })).rejects.toThrow(
        "no longer held by run-2",
      );
      expect((await tracker.get("one"))?.status).toBe("claimed");
    });

    it("refuses to hear that what somebody has closed meanwhile has failed, or needs a person", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.release("one", "run-1");
      await tracker.claim("one", "run-2");
      await tracker.complete("one", "run-2", { commit: null, note: "done" });
      const refusal = { name: "ExternalError", retryable: false };
      await expect(tracker.fail("one", "run-1", "gate_failed")).rejects.toMatchObject(refusal);
      await expect(tracker.escalate("one", "run-1", "budget")).rejects.toMatchObject(refusal);
      expect(await tracker.claim("one", "run-1")).toBe(false);
      expect((await tracker.get("one"))?.status).toBe("completed");
    });

    it("closes what succeeded where nobody has it any more, and leaves alone what somebody else has", async () => {
      await world.add({ id: "one" });
      await world.add({ id: "two" });
      for (const id of ["one", "two"]) {
        await tracker.claim(id, "run-1");
        await tracker.release(id, "run-1");
      }
      await tracker.claim("two", "run-2");
      await tracker.complete("one", "run-1", { commit: "c0ffee", note: "done" });
      expect((await tracker.get("one"))?.status).toBe("completed");
      await expect(tracker.complete("two", "run-1", { commit: "c0ffee", note: "done" })).rejects.toMatchObject({
        name: "ExternalError",
        retryable: false,
      });
      expect((await tracker.get("two"))?.status).toBe("claimed");
    });

    it("opens nothing by giving it back that is closed by then", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.complete("one", "run-1", { commit: null, note: "done" });
      await tracker.release("one", "run-1");
      expect((await tracker.get("one"))?.status).toBe("completed");
      expect(await ready({ ...all, resume: true })).toEqual([]);
    });

    it("takes a claim again that is merely gone; there is nothing to give back of an issue that is gone", async () => {
      await world.add({ id: "one" });
      await tracker.claim("one", "run-1");
      await tracker.release("one", "run-1");
      expect(await tracker.claim("one", "run-1")).toBe(true);
      expect((await tracker.get("one"))?.status).toBe("claimed");
      await tracker.release("nobody", "run-1");
    });

    it("collects one follow-up per issue", async () => {
      await world.add({ id: "one" });
      const { id: first } = await tracker.followUp("one", { title: "Follow-up of one", body: "naming in a.ts" });
      const { id: again } = await tracker.followUp("one", {
        title: "Follow-up of one",
        body: "naming in a.ts\n\nnaming in b.ts",
      });
      expect(again).toBe(first);
      const issue = await tracker.get(first);
      expect(issue).toMatchObject({ priority: 3, followUpOf: "one", title: "Follow-up of one" });
      expect(issue?.body.match(/a\.ts/g)).toHaveLength(1);
      expect(issue?.body).toContain("b.ts");
    });

    it("B8 tells once what the triggers of several runs find, as long as that is open", async () => {
      const about = (...ids: string[]) => ids.map((id) => `- ${id}\n  <!-- ratchet:${id} -->`).join("\n\n");
      const told = (run: string, ...ids: string[]) =>
        tracker.followUp(`run-20261116-${run}`, { title: `Follow-up of ${run}`, body: about(...ids) });
      const { id: first } = await told("120000-aaaaaa", "3f2a");
      expect(await told("130000-bbbbbb", "3f2a")).toEqual({ id: first, older: {} });
      expect((await told("140000-cccccc", "3f2a", "77aa")).id).toBe(first);
      const issue = await tracker.get(first);
      expect(issue?.body.match(/- (3f2a|77aa)/g)).toHaveLength(2);
      expect(issue?.followUpOf).toBe("run-20261116-120000-aaaaaa");
      // What is added to something at work may never be read.
      expect(await tracker.claim(first, "run-1")).toBe(true);
      const { id: next, older } = await told("150000-dddddd", "77aa", "88bb");
      expect([next === first, older]).toEqual([false, { "77aa": first }]);
      expect((await tracker.get(next))?.body.match(/- \w{4}\n/g)).toEqual(["- 88bb\n"]);
    });

    it("tells a finding once, however it is worded", async () => {
      await world.add({ id: "one" });
      const body = (words: string) => `- ${words}\n  <!-- ratchet:3f2a -->`;
      const { id: first } = await tracker.followUp("one", { title: "Follow-up of one", body: body("naming, line 3") });
      await tracker.followUp("one", { title: "Follow-up of one", body: body("naming, line 7") });
      expect((await tracker.get(first))?.body.match(/naming/g)).toHaveLength(1);
    });

    it("completes an epic that has no open child, for one holder, and keeps it from being worked on", async () => {
      const epics = tracker.epics;
      if (!epics) return;
      await world.add({ id: "top", type: "epic" });
      await world.add({ id: "empty", type: "epic" });
      await world.add({ id: "epic", type: "epic", parent: "top" });
      await world.add({ id: "one", parent: "epic" });
      const due = async (holder: string) => await epics.due({ scope: all.scope, holder });
      expect([await due("run-1"), await epics.complete("epic", "run-1", "done")]).toEqual([[], false]);
      await tracker.claim("one", "run-1");
      await tracker.complete("one", "run-1", { commit: null, note: "" });
      expect((await epics.children("epic")).map(({ id, status }) => [id, status])).toEqual([["one", "completed"]]);
      expect(await due("run-1")).toEqual([{ id: "epic", isTop: false }]);
      expect(await epics.claim("epic", "run-1")).toBe(true);
      expect([await epics.claim("epic", "run-2"), await due("run-2")]).toEqual([false, []]);
      expect(await ready()).toEqual([]);
      expect(await epics.complete("epic", "run-2", "done")).toBe(false);
      expect([await epics.complete("epic", "run-1", "done"), await epics.complete("epic", "run-1", "done")]).toEqual([
        true,
        true,
      ]);
      expect((await tracker.get("epic"))?.status).toBe("completed");
      expect(await epics.due({ scope: { type: "epic", epic: "top" }, holder: "run-2" })).toEqual([
        { id: "top", isTop: true },
      ]);
    });

    it("completes an epic after what it depends on, too", async () => {
      const epics = tracker.epics;
      if (!epics) return;
      await world.add({ id: "first" });
      await world.add({ id: "epic", type: "epic", deps: ["first"] });
      await world.add({ id: "one", parent: "epic" });
      const finish = async (id: string) => {
        await tracker.claim(id, "run-1");
        await tracker.complete(id, "run-1", { commit: null, note: "" });
      };
      const due = async () => (await epics.due({ scope: all.scope, holder: "run-1" })).map(({ id }) => id);
      await finish("one");
      expect([await due(), await epics.claim("epic", "run-1"), await epics.complete("epic", "run-1", "x")]).toEqual([
        [],
        false,
        false,
      ]);
      await finish("first");
      expect([await due(), await epics.complete("epic", "run-1", "x")]).toEqual([["epic"], true]);
    });

    it("puts what an epic lacks into it: then it is not due, and is let go", async () => {
      const epics = tracker.epics;
      if (!epics) return;
      await world.add({ id: "epic", type: "epic" });
      await world.add({ id: "one", parent: "epic" });
      await tracker.claim("one", "run-1");
      await tracker.complete("one", "run-1", { commit: null, note: "" });
      await epics.claim("epic", "run-1");
      const { id: made } = await tracker.followUp("epic", { title: "What epic still lacks", body: "x", inEpic: true });
      expect(await tracker.get(made)).toMatchObject({ parent: "epic", priority: 1, followUpOf: "epic" });
      expect(await epics.complete("epic", "run-1", "done")).toBe(false);
      await epics.release("epic", "run-1");
      await epics.release("epic", "run-1");
      expect((await tracker.get("epic"))?.status).toBe("available");
      expect(await ready()).toEqual([made]);
    });
  });
}
