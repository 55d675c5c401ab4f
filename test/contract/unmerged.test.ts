import { expect, test } from "vitest";
import type { Issue } from "../../src/core/ports/tracker.js";
import { unmergedDeps } from "../../src/run/unmerged.js";
import { makeWorld, sh } from "./git-fixture.js";

test("a tracker is asked what an issue depends on only where there are branches of Ratchet's", async () => {
  const { repo, mirror } = await makeWorld();
  const settings = { finalize: { mode: "merge", into: null } } as const;
  const place = { settings, repoPath: repo, mirror, target: "main" };
  const asked: string[] = [];
  const get = async (id: string): Promise<Issue> => {
    asked.push(id);
    return { id, title: "", body: "", type: "task", parent: null, deps: [], priority: 2, status: "completed" };
  };
  expect(await unmergedDeps(place, { get }, ["a", "b"])).toEqual([]);
  expect(asked).toEqual([]);
  sh(
    repo,
    "git switch -q -c ratchet/b && git commit -q --allow-empty -m b && git branch ratchet/a main && git switch -q main",
  );
  expect(await unmergedDeps(place, { get }, ["a", "b"])).toEqual([{ id: "b", branch: "ratchet/b" }]);
  sh(repo, "git pack-refs --all");
  expect(await unmergedDeps(place, { get }, ["a", "b"])).toEqual([{ id: "b", branch: "ratchet/b" }]);
});
