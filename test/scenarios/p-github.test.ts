import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type PrWorld, prWorld } from "./pr-world.js";

/** An issue of GitHub's, #1, whose work has gone into pull request #2. */
async function opened(config: Readonly<Record<string, unknown>> = {}): Promise<PrWorld> {
  const world = await prWorld({ tracker: { type: "github" }, ...config });
  const issue = { title: "Write it", body: "", labels: ["P1"] };
  expect(await world.jo.send("POST", "/issues", issue)).toMatchObject({ number: 1 });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  return world;
}
const turnsOf = (world: PrWorld) => readFileSync(join(world.root, "turns"), "utf8").trimEnd().split("\n");
const labelsOf = (world: PrWorld) => world.server.state.repo.issues.get(1)?.labels.filter((label) => label !== "P1");

test("P7 P8 an issue of GitHub's waits in its pull request: no resume begins it anew, and a close fails it", async () => {
  const world = await opened();
  expect(await world.item("1")).toMatchObject({ priority: 1 });
  expect(await world.ratchet("run", "--resume")).toMatchObject({ code: 0 });
  expect(turnsOf(world)).toEqual(["implementer implementer 1"]);
  expect(labelsOf(world)).toEqual(["in-progress"]);
  await world.jo.send("PATCH", "/pulls/2", { state: "closed" });
  await world.sync();
  expect(labelsOf(world)).toEqual(["needs-followup"]);
  expect(await world.item("1")).toMatchObject({ status: "failed" });
  await world.jo.send("PATCH", "/pulls/2", { state: "open" });
  await world.sync();
  expect(labelsOf(world)).toEqual(["in-progress"]);
  expect(await world.item("1")).toMatchObject({ status: "waiting_for_response" });
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

test("explain says why an issue of GitHub's is not taken: its author, its assignee, its label or its pull request", async () => {
  const world = await opened();
  const explain = async (id: string) => JSON.parse(await world.quick("explain", id, "--json"));
  expect(await explain("1")).toMatchObject({
    state: "claimed",
    running: false,
    reason: expect.stringMatching(/^waits for pull request #2 \(http/),
    next: "ratchet pr sync 2",
  });
  const eve = world.server.person("eve", "NONE");
  const open = async (by: typeof eve, more: object) =>
    String((await by.send("POST", "/issues", { title: "x", body: "", ...more })).number);
  const foreign = await open(eve, {});
  const planned = await open(world.jo, { assignees: ["jo"] });
  const begun = await open(world.jo, { labels: ["in-progress"] });
  expect(await explain(`#${foreign}`)).toEqual({
    issue_id: foreign,
    state: "available",
    running: false,
    reason: "it was written by eve (NONE), whom pull_requests.trusted does not name",
    blockers: [],
    next: `label ${foreign} with ratchet on GitHub, if an agent may do what it says`,
  });
  expect(await explain(planned)).toMatchObject({ reason: "it is assigned to jo" });
  expect(await explain(begun)).toMatchObject({
    reason: expect.stringContaining("a person has labelled it in-progress"),
  });
  expect(await world.ratchet("run", foreign)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${foreign} is not ready: it was written by eve`),
  });
  expect(await world.ratchet("run")).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("nothing is ready in GitHub"),
  });
  await world.jo.send("POST", `/issues/${foreign}/labels`, { labels: ["ratchet"] });
  expect(await explain(foreign)).toMatchObject({ reason: "ready, but nothing runs", next: "ratchet run" });
  expect((await world.ratchet("run", "--resume", "--check-only")).stderr).toMatch(
    /^nothing is ready in GitHub, 1 that nobody has worked on yet \(ratchet run --resume\); ratchet explain/m,
  );
  expect(await world.ratchet("explain", "99")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("99 is no issue in GitHub"),
  });
});
