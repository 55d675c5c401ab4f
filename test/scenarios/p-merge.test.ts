import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrWorld, prWorld } from "./pr-world.js";

const reviewScript = `cat > /dev/null
echo "$RATCHET_ISSUE_ID" >> "$HOME/reviews"
case "$RATCHET_ISSUE_ID" in review-*) if [ -f "$HOME/mute" ]; then exit 0; fi ;; esac
echo '{"verdict":"pass","findings":[]}'`;

async function reviewedWorld(): Promise<PrWorld> {
  const world = await prWorld({ pull_requests: { review: { enabled: true }, merge: "squash" } });
  const text = JSON.parse(readFileSync(join(world.dir, "ratchet.yaml"), "utf8"));
  const command = world.script("review.sh", reviewScript);
  world.configure({ ...text, per_issue_review: { enabled: true, reviewer_type: "command", command } });
  for (const id of ["shop-1", "shop-2"]) await world.add(id, { title: "Write it" });
  return world;
}
const askedFor = (world: PrWorld) => readFileSync(join(world.root, "reviews"), "utf8").trimEnd().split("\n");

test("P10 a review without a verdict, a push by hand and a merge that is refused once all come to a merge", async () => {
  const world = await reviewedWorld();
  writeFileSync(join(world.root, "mute"), "");
  expect(await world.ratchet("run", "--max-agents", "1")).toMatchObject({ code: 1 });
  // Both were pushed at about the same time.
  const pulls: { number: number; issue_id: string }[] = JSON.parse(await world.quick("pr", "list", "--json"));
  const [one = "", two = ""] = [1, 2].map((number) => pulls.find((pull) => pull.number === number)?.issue_id);
  await world.jo.send("PATCH", "/pulls/2", { state: "closed" });
  await world.sync();
  expect(JSON.parse(await world.quick("pr", "escalations", "--json"))).toMatchObject([{ issue_id: one }]);
  await world.quick("work", "complete", two);
  expect(await world.quick("explain", one)).toMatch(/needs a person: No verdict on the pull request/);
  expect(await world.ratchet("run", one)).toMatchObject({ stderr: expect.stringContaining(`ratchet retry ${one}`) });
  rmSync(join(world.root, "mute"));
  await world.quick("retry", one);
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  const again = (times: number) => `review-shop-pr-1-again-${times}`;
  expect(askedFor(world).at(-1)).toBe(again(1));
  expect(await world.item("review-shop-pr-1")).toMatchObject({ status: "completed" });
  expect(await world.quick("explain", one)).toMatch(/waits for pull request #1 .*: no check has shown up/);

  world.push(`ratchet/${one}`, { "by-hand.txt": "mine\n" });
  await world.check(1, "ci", "success");
  await world.sync();
  await world.sync();
  expect(await world.item(again(2))).toMatchObject({ status: "available" });
  expect(await world.quick("explain", one)).toMatch(/Ratchet's review .*-again-2 is ready[\s\S]*ratchet run/);
  const merging = "PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge";
  world.server.faults.add({ route: merging, kind: "status", status: 405, times: 1 });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect(askedFor(world).at(-1)).toBe(again(2));
  expect(await world.quick("explain", one)).toMatch(/the forge does not merge it: .*405/);
  expect(await world.quick("pr", "list")).toMatch(/#1 is not merged: /);
  expect(await world.ratchet("run")).toMatchObject({
    stderr: expect.stringContaining("nothing is ready: 1 waits for its pull request (ratchet pr list)"),
  });
  expect(await world.ratchet("run", one)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${one} is not ready: it waits for pull request #1: the forge does not merge it`),
  });
  await world.quick("pr", "sync", "1");
  expect(await world.item(one)).toMatchObject({ status: "completed" });
  expect(await world.ratchet("retry", one)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("completed"),
  });
});
