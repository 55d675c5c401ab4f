import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ItemStatus } from "../../src/core/ports/tracker.js";
import { newItem } from "./new-item.js";
import { type TempStore, tempStore } from "./temp-store.js";

const minute = 60_000;
let temp: TempStore;
let now: number;
let projectId: string;
beforeEach(async () => {
  now = Date.now();
  temp = await tempStore({ now: () => now });
  projectId = (await temp.store.registerProject("/work/p")).id;
});
afterEach(() => temp.done());

function claimer(holder: string) {
  const args = ["dist-test/store-claim.mjs", temp.home.root, projectId, "one", holder];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    ready: lines.next(),
    result: async () => String((await lines.next()).value),
  };
}

describe("a claim", () => {
  it("S1 is won by exactly one of 20 processes", async () => {
    await temp.store.workItems.add(newItem(projectId, { id: "one" }));
    const claimers = Array.from({ length: 20 }, (_, n) => claimer(`process-${n}`));
    await Promise.all(claimers.map((each) => each.ready));
    writeFileSync(join(temp.home.root, "go"), "");
    const results = await Promise.all(claimers.map((each) => each.result()));
    expect(results.filter((result) => result === "claimed")).toHaveLength(1);
    expect(results.filter((result) => result === "lost")).toHaveLength(19);
  });

  it("S1 ends with its lease, and not before", async () => {
    const { workItems } = temp.store;
    await workItems.add(newItem(projectId, { id: "one" }));
    const leaseUntil = now + 15 * minute;
    expect(await workItems.claim(projectId, "one", { holder: "a", leaseUntil, now })).toBe(true);
    now += 14 * minute;
    expect(await workItems.claim(projectId, "one", { holder: "b", leaseUntil: now + minute, now })).toBe(false);
    expect(await ids()).toEqual([]);
    expect(await listed(["available"])).toEqual([]);
    expect(await listed(["claimed"])).toEqual(["one"]);
    now += minute;
    expect(await listed(["available"])).toEqual(["one"]);
    expect(await listed(["claimed"])).toEqual([]);
    expect(await workItems.get(projectId, "one")).toMatchObject({ status: "available", claimedBy: null });
    expect(await ids()).toEqual(["one"]);
    expect(await workItems.claim(projectId, "one", { holder: "b", leaseUntil: now + minute, now })).toBe(true);
    expect(await workItems.release(projectId, "one", "a")).toBe(false);
  });

  it("is renewed by a heartbeat of its holder, while it lasts", async () => {
    const { workItems } = temp.store;
    await workItems.add(newItem(projectId, { id: "one" }));
    await workItems.claim(projectId, "one", { holder: "a", leaseUntil: now + minute, now });
    expect(await workItems.heartbeat(projectId, "one", { holder: "b", leaseUntil: now + 5 * minute })).toBe(false);
    expect(await workItems.heartbeat(projectId, "one", { holder: "a", leaseUntil: now + 5 * minute })).toBe(true);
    now += 4 * minute;
    expect((await workItems.get(projectId, "one"))?.status).toBe("claimed");
    now += 2 * minute;
    expect(await workItems.heartbeat(projectId, "one", { holder: "a", leaseUntil: now + minute })).toBe(false);
  });

  it("of a run has no lease: it holds for days, and the run may ask again", async () => {
    const { workItems } = temp.store;
    await workItems.add(newItem(projectId, { id: "one" }));
    const claim = { holder: "run-1", leaseUntil: null, now };
    expect(await workItems.claim(projectId, "one", claim)).toBe(true);
    expect(await workItems.claim(projectId, "one", claim)).toBe(true);
    now += 30 * 24 * 60 * minute;
    expect(await workItems.claim(projectId, "one", { ...claim, holder: "run-2", now })).toBe(false);
    expect(await ids()).toEqual([]);
  });

  it("takes the best item, and each item once", async () => {
    const { workItems } = temp.store;
    for (const [id, priority] of [
      ["low", 3],
      ["high", 0],
      ["middle", 2],
    ] as const) {
      await workItems.add(newItem(projectId, { id, priority }));
    }
    const claim = { holder: "a", leaseUntil: now + minute };
    const taken = [1, 2, 3, 4].map(async () => (await workItems.claimNext(projectId, claim))?.id ?? null);
    expect((await Promise.all(taken)).toSorted()).toEqual(["high", "low", "middle", null]);
  });
});

async function listed(statuses: readonly ItemStatus[]): Promise<string[]> {
  return (await temp.store.workItems.list({ projectId, statuses, limit: 50 })).map((item) => item.id);
}

async function ids(): Promise<string[]> {
  const query = { projectId, scope: { type: "all" }, resume: false, limit: 50, now } as const;
  return (await temp.store.workItems.ready(query)).map((item) => item.id);
}
