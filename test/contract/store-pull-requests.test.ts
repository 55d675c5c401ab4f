import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { reviewItemId } from "../../src/core/board/item-ids.js";
import type { NamedWorkItem } from "../../src/core/ports/work-items.js";
import type { Board } from "../../src/store/store.js";
import { newItem } from "./new-item.js";
import { pullRequestFields, reworkItem } from "./pull-request-items.js";
import { type TempStore, tempStore } from "./temp-store.js";

let temp: TempStore;
let now: number;
let board: Board;
beforeEach(async () => {
  now = 1_700_000_000_000;
  temp = await tempStore({ now: () => now });
  board = temp.store.workItems;
  await temp.store.registerProject("/work/p");
  await board.add(newItem("p", { id: "i", source: "implement" }));
});
afterEach(() => temp.done());

const rejected = {
  itemId: "i",
  event: { type: "work_rejected", pr_number: 42, rework_cycle: 1, reason: "too slow", rework_item_id: null },
} as const;
const escalation = {
  reason: "Max rework cycles (1) exceeded",
  event: { type: "human_escalation", prNumber: 42, maxCycles: 1, reason: "Max rework cycles (1) exceeded" },
} as const;

async function told(id: string): Promise<string[]> {
  return (await board.events("p", id)).map(({ type }) => type);
}
function review(cycle: number): NamedWorkItem {
  const id = reviewItemId({ projectId: "p", prNumber: 42 }, cycle);
  const payload = { source: "code_review", ...pullRequestFields("p"), rework_cycle: cycle } as const;
  return { ...newItem("p"), id, source: "code_review", payload };
}

describe("an item that is made once", () => {
  it("P1 P2 is the same whoever asks and whatever became of it, and is told once", async () => {
    const first = await Promise.all([1, 2, 3].map(() => board.addOnce(reworkItem("p"), [rejected])));
    expect(first.map((one) => one.ok && one.id)).toEqual(Array(3).fill("rework-p-pr-42-cycle-1"));
    expect(first.filter((one) => one.ok && one.isNew)).toHaveLength(1);
    await board.claim("p", "rework-p-pr-42-cycle-1", { holder: "r", leaseUntil: null, now });
    await board.settle("p", "rework-p-pr-42-cycle-1", "r", { status: "failed", reason: "x", commit: null });
    expect(await board.addOnce(reworkItem("p"), [rejected])).toMatchObject({ ok: true, isNew: false });
    await board.complete("p", "rework-p-pr-42-cycle-1", null);
    expect(await board.addOnce(reworkItem("p"), [rejected])).toMatchObject({ ok: true, isNew: false });
    expect(await told("i")).toEqual(["added", "work_rejected"]);
    expect((await board.ofPullRequest("p", 42)).map(({ id }) => id)).toEqual(["rework-p-pr-42-cycle-1"]);
  });

  it("P2 is another one in another project and in another cycle, and found by both", async () => {
    await temp.store.registerProject("/work/q");
    for (const item of [reworkItem("p"), reworkItem("q"), reworkItem("p", 2)]) {
      expect(await board.addOnce(item)).toMatchObject({ ok: true, isNew: true });
    }
    expect((await board.rework("q", 42, 1))?.id).toBe("rework-q-pr-42-cycle-1");
    expect((await board.rework("p", 42, 2))?.payload).toEqual(reworkItem("p", 2).payload);
    expect(await board.rework("p", 42, 3)).toBeNull();
  });

  it("P2 is the same rework under whatever id it is asked for", async () => {
    await board.addOnce(reworkItem("p"));
    const other = await board.addOnce({ ...reworkItem("p"), id: "other" });
    expect(other).toEqual({ ok: true, id: "rework-p-pr-42-cycle-1", isNew: false });
    expect(await board.get("p", "other")).toBeNull();
  });

  it("may have a longer id than people may choose, and no payload of another source", async () => {
    const { id: project } = await temp.store.registerProject(`/work/${"long".repeat(12)}`);
    expect(await board.addOnce(reworkItem(project))).toMatchObject({ ok: true, isNew: true });
    expect(await board.addOnce({ ...reworkItem("p"), source: "pr_merge" })).toEqual({
      ok: false,
      reason: "a payload of rework in an item of pr_merge",
    });
    expect(await board.addOnce(reworkItem("p", 0))).toMatchObject({
      ok: false,
      reason: expect.stringContaining("rework_cycle must be"),
    });
    expect(await board.addOnce(reworkItem("nowhere"))).toEqual({ ok: false, reason: "no project nowhere" });
  });
});

describe("what has come since a rework was made", () => {
  const id = "rework-p-pr-42-cycle-1";
  const comment = { path: "a.ts", line: 1, body: "why", author: "jo", created_at: "2026-01-01T00:00:00Z", id: "9" };
  const more = (name: string) => ({ name, feedback: ["more"], comments: [comment], told: [rejected] });
  const isOf = async () => (await board.get("p", id))?.payload;

  it("joins it once while nobody has begun it, a conflict too, and never afterwards", async () => {
    const fix = { source: "merge_fix", ...pullRequestFields("p"), rework_cycle: 1 } as const;
    await board.addOnce({ ...reworkItem("p"), source: "merge_fix", payload: fix });
    expect(
      await Promise.all(["look:2", "look:2", "look:3"].map((name) => board.joinRework("p", id, more(name)))),
    ).toEqual([true, true, true]);
    expect(await isOf()).toMatchObject({
      source: "rework",
      review_feedback: "The branch conflicts with main.\n\nmore\n\nmore",
      inline_comments: [comment, comment],
    });
    expect((await told("i")).filter((type) => type === "work_rejected")).toHaveLength(2);
    await board.claim("p", id, { holder: "r", leaseUntil: null, now });
    await board.release("p", id, "r");
    const before = await isOf();
    expect(await board.joinRework("p", id, more("look:4"))).toBe(false);
    expect(await board.joinRework("p", id, more("look:3"))).toBe(true);
    expect(await isOf()).toEqual(before);
  });
});

describe("a successor", () => {
  const next = { holder: "r", note: "pushed", commit: "c0ffee", successor: review(1) };
  const rework = "rework-p-pr-42-cycle-1";
  beforeEach(async () => {
    await board.addOnce(reworkItem("p"));
    await board.claim("p", rework, { holder: "r", leaseUntil: null, now });
  });

  it("P9 comes with the completion of its predecessor, once, however often it is asked for", async () => {
    const asked = await Promise.all([1, 2].map(() => board.succeed("p", rework, next)));
    expect(asked.map((one) => one.ok && one.id)).toEqual(Array(2).fill("review-p-pr-42-cycle-1"));
    expect(asked.filter((one) => one.ok && one.isNew)).toHaveLength(1);
    expect((await board.get("p", rework))?.status).toBe("completed");
    expect(await told(rework)).toEqual(["added", "claimed", "completed"]);
    expect(await told("review-p-pr-42-cycle-1")).toEqual(["added"]);
  });

  it("is not made, and nothing is completed, for one who does not hold the predecessor", async () => {
    expect(await board.succeed("p", rework, { ...next, holder: "other" })).toEqual({
      ok: false,
      reason: `${rework} is claimed, held by r`,
    });
    expect(await board.succeed("p", "nobody", next)).toEqual({ ok: false, reason: "no item nobody in p" });
    expect(await board.get("p", "review-p-pr-42-cycle-1")).toBeNull();
    expect((await board.get("p", rework))?.status).toBe("claimed");
  });

  it("that cannot be made completes nothing", async () => {
    const successor = { ...review(1), deps: ["nobody"] };
    expect(await board.succeed("p", rework, { ...next, successor })).toMatchObject({ ok: false });
    expect((await board.get("p", rework))?.status).toBe("claimed");
  });

  it("P9 is made up for where the predecessor was completed by hand, and the other way round", async () => {
    await board.complete("p", rework, null);
    expect(await board.succeed("p", rework, next)).toMatchObject({ ok: true, isNew: true });
    await board.addOnce(reworkItem("p", 2));
    const second = "rework-p-pr-42-cycle-2";
    await board.claim("p", second, { holder: "r", leaseUntil: null, now });
    await board.addOnce(review(2));
    expect(await board.succeed("p", second, { ...next, successor: review(2) })).toMatchObject({ isNew: false });
    expect((await board.get("p", second))?.status).toBe("completed");
  });
});

describe("an issue with a pull request", () => {
  it("P7 keeps what it is told about it, and is found by its number", async () => {
    expect(await board.setPayload("p", "i", pullRequestFields("p"))).toBe(true);
    expect(await board.setPayload("p", "i", { worktree_path: "/w/other" })).toBe(true);
    const payload = { source: "implement", ...pullRequestFields("p"), worktree_path: "/w/other" };
    expect((await board.ofPullRequest("p", 42)).map((item) => item.payload)).toEqual([payload]);
    expect(await board.setPayload("p", "nobody", {})).toBe(false);
    expect(await board.setPayload("p", "i", { pr_number: -1 })).toBe(false);
  });

  it("may have come from a review", async () => {
    const { id } = await board.appendFollowUp("p", "i", { title: "t", body: "x" });
    expect(await board.setPayload("p", id, pullRequestFields("p"))).toBe(true);
    expect(await board.get("p", id)).toMatchObject({ source: "review-followup", payload: { source: "implement" } });
  });

  it("P5 is escalated once, out of the queue, with one event", async () => {
    const asked = await Promise.all([1, 2].map(() => board.escalate("p", "i", escalation)));
    expect(asked.toSorted()).toEqual([false, true]);
    expect(await board.get("p", "i")).toMatchObject({
      status: "waiting_for_response",
      payload: {
        human_review_required: true,
        escalation_reason: "Max rework cycles (1) exceeded",
        escalated_at: new Date(now).toISOString(),
      },
    });
    expect((await board.events("p", "i")).filter(({ type }) => type === "human_escalation")).toEqual([
      expect.objectContaining({ prNumber: 42, maxCycles: 1, item_id: "i" }),
    ]);
    expect((await board.escalated("p", 10)).map(({ id }) => id)).toEqual(["i"]);
    expect(await board.escalated(null, 10)).toHaveLength(1);
  });

  it("is no longer escalated after a retry, which is told, and can be escalated anew", async () => {
    await board.escalate("p", "i", escalation);
    await board.retry("p", "i");
    const item = await board.get("p", "i");
    expect(item).toMatchObject({ status: "available", payload: { human_review_required: false } });
    expect(item?.payload).not.toHaveProperty("escalated_at");
    expect((await board.events("p", "i")).at(-1)).toMatchObject({
      type: "retried",
      human_review_required: false,
      escalation_reason: "Max rework cycles (1) exceeded",
    });
    expect(await board.escalated("p", 10)).toEqual([]);
    expect(await board.escalate("p", "i", escalation)).toBe(true);
  });

  it("goes on waiting in its pull request after a retry", async () => {
    await board.setPayload("p", "i", pullRequestFields("p"));
    await board.escalate("p", "i", escalation);
    await board.retry("p", "i", { inPullRequest: true });
    expect(await board.get("p", "i")).toMatchObject({
      status: "waiting_for_response",
      payload: { human_review_required: false, pr_number: 42 },
    });
  });

  it("is in the queue again after a retry where its pull request has ended", async () => {
    await board.setPayload("p", "i", pullRequestFields("p"));
    await board.escalate("p", "i", escalation);
    await board.retry("p", "i");
    expect(await board.get("p", "i")).toMatchObject({ status: "available", payload: { human_review_required: false } });
  });

  it("that is completed waits for nobody, and is not retried", async () => {
    await board.complete("p", "i", null);
    await board.escalate("p", "i", escalation);
    expect(await board.escalated("p", 10)).toEqual([]);
    await expect(board.retry("p", "i")).rejects.toThrow("i is completed");
  });

  it("is told about on the board, where it is there", async () => {
    const text = "Rework: reusing existing worktree at /w/i";
    expect(await board.appendEvent("p", "i", { type: "log", level: "info", text })).toBe(true);
    expect(await board.appendEvent("p", "nobody", { type: "log", level: "info", text })).toBe(false);
    await board.appendEvent("p", "i", { type: "comments_fetch", result: "timeout", part: "inline" });
    expect((await board.events("p", "i")).slice(1)).toEqual([
      expect.objectContaining({ type: "log", level: "info", text }),
      expect.objectContaining({ type: "comments_fetch", result: "timeout", part: "inline" }),
    ]);
  });
});

it("what is ready can be asked for by source, and what waits for people is not ready", async () => {
  await board.addOnce(reworkItem("p"));
  await board.addOnce({ ...review(0), status: "waiting_for_response" });
  await board.addOnce({ ...review(1), priority: 0 });
  const ready = async (sources?: string[]) => {
    const query = { projectId: "p", scope: { type: "all" }, resume: false, limit: 9, now } as const;
    return (await board.ready({ ...query, ...(sources && { sources }) })).map(({ id }) => id);
  };
  expect(await ready()).toEqual(["review-p-pr-42-cycle-1", "rework-p-pr-42-cycle-1", "i"]);
  expect(await ready(["implement"])).toEqual(["i"]);
  expect(await ready(["rework", "implement"])).toEqual(["rework-p-pr-42-cycle-1", "i"]);
  expect(await ready(["rework", "code_review"])).toEqual(["review-p-pr-42-cycle-1", "rework-p-pr-42-cycle-1"]);
  expect(await ready([])).toEqual([]);
});
