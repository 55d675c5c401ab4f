import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { prWorld } from "./pr-world.js";

const rework = "rework-shop-pr-1-cycle-1";

test("P1 P2 P7 P9 P12 from the issue to the pull request, through a rework, to the merge", async () => {
  const world = await prWorld({ pull_requests: { merge: "squash", trusted: ["MEMBER"] } });
  await world.add("shop-1", { title: "Write it", body: "A file with three lines." });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });

  expect(await world.item("shop-1")).toMatchObject({ status: "waiting_for_response", payload: { pr_number: 1 } });
  expect(world.remoteGit("show", "ratchet/shop-1:work.txt")).toBe("one\ntwo\nthree");
  const pull = await world.jo.send("GET", "/pulls/1");
  expect(pull).toMatchObject({ title: "Write it", base: { ref: "main" }, head: { ref: "ratchet/shop-1" } });
  expect(pull.body).toContain("> A file with three lines.");

  await expect(world.quick("retry", "shop-1")).rejects.toThrow("shop-1 waits for pull request #1");
  expect(await world.quick("worktree", "clean")).toBe("kept shop-1: it waits for pull request #1\n");

  await world.reject(1, "Not yet.", [{ line: 2, body: "Say two twice.\nPlease." }]);
  await world.sync();
  await world.sync();
  expect(await world.item(rework)).toMatchObject({ status: "available", source: "rework", priority: 1 });
  expect((await world.quick("pr", "rework", "1")).trim()).toBe(rework);
  const events = await world.events();
  expect(events.filter(({ type }) => type === "work_rejected")).toMatchObject([{ item_id: "shop-1", rework_cycle: 1 }]);

  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  const prompt = readFileSync(join(world.root, `prompt-${rework}-rework`), "utf8");
  expect(prompt).toMatch(/^You are addressing code review feedback for PR #1/);
  expect(prompt).toContain("### work.txt:2\n\n> Say two twice.\n> Please.\n— @jo");
  expect(readFileSync(join(world.root, "turns"), "utf8")).toBe(
    `implementer implementer shop-1\nrework rework ${rework}\n`,
  );
  expect(world.remoteGit("log", "-1", "--format=%s", "ratchet/shop-1")).toBe(
    "Address review feedback for PR #1 (cycle 1)",
  );
  const head = world.remoteGit("rev-parse", "ratchet/shop-1");
  expect((await world.events()).map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^Rework: reusing existing worktree at /),
  );

  await world.sync();
  expect((await world.threads(1)).filter(({ in_reply_to_id }) => in_reply_to_id)).toMatchObject([
    { body: expect.stringContaining(head) },
  ]);
  expect(await world.comments(1)).toMatchObject([{ user: "ratchet-bot", body: expect.stringContaining(head) }]);
  const chain = (await world.items()).filter(({ source }) => source !== "pr_merge").map(({ payload }) => payload);
  const same = chain.map((payload) => [
    payload?.worktree_path,
    payload?.human_review_required,
    payload?.implementation_work_item_id,
    payload?.base_branch,
  ]);
  expect(chain).toHaveLength(4);
  expect(new Set(same.map((one) => JSON.stringify(one))).size).toBe(1);

  await world.jo.send("POST", "/pulls/1/reviews", { event: "APPROVE", body: "Good.", commit_id: head });
  await world.sync();
  expect(await world.jo.send("GET", "/pulls/1")).toMatchObject({ merged: true });
  expect(await world.item("shop-1")).toMatchObject({ status: "completed" });
  expect((await world.items()).filter(({ status }) => status !== "completed")).toEqual([]);
  expect(world.remoteGit("show", "main:work.txt")).toContain("again");

  await world.add("shop-2", { title: "Go on", more: ["--dep", "shop-1,shop-1"] });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect(world.remoteGit("merge-base", "--is-ancestor", "main", "ratchet/shop-2")).toBe("");
});
