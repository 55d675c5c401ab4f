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

test("of an epic its own issues count, those of the epics in it, and what it depends on", async () => {
  const { repo, mirror } = await makeWorld();
  const settings = { finalize: { mode: "branch", into: null } } as const;
  const place = { settings, repoPath: repo, mirror, target: "main" };
  const issue = (id: string, more: Partial<Issue> = {}): Issue => {
    const empty = { title: "", body: "", parent: null, deps: [], priority: 2, status: "completed" } as const;
    return { id, type: "task", ...empty, ...more };
  };
  const inner = issue("inner", { type: "epic", parent: "top", deps: ["before", "top"] });
  const all = [issue("top", { type: "epic" }), inner, issue("child", { parent: "inner" }), issue("before")];
  const tracker = {
    get: async (id: string) => all.find((one) => one.id === id) ?? null,
    epics: { children: async (epic: string) => all.filter(({ parent }) => parent === epic) },
  };
  const unmerged = async () => (await unmergedDeps(place, tracker, ["top"])).map(({ id }) => id);
  for (const id of ["child", "before"]) {
    sh(repo, `git switch -q -c ratchet/${id} main && git commit -q --allow-empty -m ${id} && git switch -q main`);
  }
  expect(await unmerged()).toEqual(["child", "before"]);
  sh(repo, "git merge -q ratchet/child && git branch -D -q ratchet/before");
  expect(await unmerged()).toEqual([]);
});
