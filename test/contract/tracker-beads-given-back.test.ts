import { describe, expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "./beads-world.js";

const all = { scope: { type: "all" }, resume: false, limit: 50 } as const;

/** Claimed, and changed by somebody since. */
async function changed(program: "bd" | "br", how: object) {
  const world = beadsWorld({ program });
  onTestFinished(world.done);
  await world.add({ id: "one" });
  await world.tracker.claim("one", "run-1");
  const change = (what: object) => world.change(({ issues }) => void Object.assign(issues[0] ?? {}, what));
  change(how);
  const ready = async () => (await world.tracker.ready(all)).map(({ id }) => id);
  return { ...world, ready, openAgain: () => change({ status: "open" }) };
}

describe.each(["bd", "br"] as const)("with %s", (program) => {
  test.each(["blocked", "closed", "deferred"])(
    "what a person has made %s stays so, and is free once they open it again",
    async (status) => {
      const { tracker, issue, ready, openAgain } = await changed(program, { status });
      await tracker.release("one", "run-1");
      await tracker.release("one", "run-1");
      expect(issue("one")).toMatchObject({ status, assignee: "", labels: [] });
      openAgain();
      expect(await ready()).toEqual(["one"]);
      expect(await tracker.claim("one", "run-2")).toBe(true);
    },
  );

  test("what a person has opened meanwhile is given back like what was held", async () => {
    const { tracker, issue, ready } = await changed(program, { status: "open" });
    await tracker.release("one", "run-1");
    expect(issue("one")).toMatchObject({ status: "open", assignee: "", labels: ["ratchet-stopped"] });
    expect(await ready()).toEqual(["one"]);
  });

  test.each([
    ["blocked, and another's", { status: "blocked", assignee: "jo" }],
    ["another run's", { assignee: "ratchet/run-2" }],
    ["deleted, with its name on what is left", { status: "tombstone" }],
  ])("what is %s is left as it is", async (_what, how) => {
    const { tracker, issue } = await changed(program, how);
    const before = issue("one");
    await tracker.release("one", "run-1");
    expect(issue("one")).toEqual(before);
  });

  test("D3 a name that cannot be taken off is an error, and nothing is called given back", async () => {
    const { tracker, change } = await changed(program, { status: "blocked" });
    change(({ faults }) => faults.push({ command: "update", times: 3, prints: "[]\n" }));
    await expect(tracker.release("one", "run-1")).rejects.toMatchObject({ name: "ExternalError", retryable: true });
  });
});
