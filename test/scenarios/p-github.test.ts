import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrWorld, prWorld } from "./pr-world.js";

/** An issue of GitHub's, #1, whose work has gone into pull request #2. */
async function opened(config: Readonly<Record<string, unknown>> = {}): Promise<PrWorld> {
  const world = await prWorld({ tracker: { type: "github" }, ...config });
  expect(await world.jo.send("POST", "/issues", { title: "Write it", body: "" })).toMatchObject({ number: 1 });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  return world;
}
const turnsOf = (world: PrWorld) => readFileSync(join(world.root, "turns"), "utf8").trimEnd().split("\n");
const labelsOf = (world: PrWorld) => world.server.state.repo.issues.get(1)?.labels;

test("P7 P8 an issue of GitHub's waits in its pull request: no resume begins it anew, and a close fails it", async () => {
  const world = await opened();
  expect(await world.ratchet("run", "--resume")).toMatchObject({ code: 0 });
  expect(turnsOf(world)).toEqual(["implementer implementer 1"]);
  expect(labelsOf(world)).toEqual(["in-progress"]);
  await world.jo.send("PATCH", "/pulls/2", { state: "closed" });
  await world.sync();
  expect(labelsOf(world)).toEqual(["needs-followup"]);
  expect(await world.item("1")).toMatchObject({ status: "failed" });
});

test("P5 an issue of GitHub's is marked for a person, and done once its pull request is merged", async () => {
  const world = await opened({ pull_requests: { max_rework_cycles: 0 } });
  await world.reject(2, "Not yet.");
  await world.sync();
  expect(labelsOf(world)).toEqual(["human-review"]);
  await world.quick("retry", "1");
  await world.jo.send("PUT", "/pulls/2/merge", {});
  await world.sync();
  expect(world.server.state.repo.issues.get(1)).toMatchObject({ state: "closed" });
  expect(await world.item("1")).toMatchObject({ status: "completed" });
});
