import { expect, test } from "vitest";
import { fetchBranch, knownRemote, pushBranch } from "../../src/git/landing/push.js";
import { makeWorld, sh } from "./git-fixture.js";

test("what is known of a branch of the remote that is gone is not in the way of another", async () => {
  const { mirror, base, repo } = await makeWorld((path) =>
    sh(path, "git clone -q --bare . ../forge.git && git remote add origin ../forge.git"),
  );
  sh(repo, "git push -q origin main:feat");
  expect(await fetchBranch(mirror, "feat")).toBe(base);
  expect(await fetchBranch(mirror, "feat/x")).toBe(null);
  expect(await knownRemote(mirror, "feat")).toBe(base);
  sh(repo, "git push -q origin :feat && git push -q origin main:feat/x");
  expect(await fetchBranch(mirror, "feat/x")).toBe(base);
  expect(await knownRemote(mirror, "feat")).toBe(null);
  sh(repo, "git push -q origin :feat/x");
  expect(await pushBranch(mirror, { branch: "feat", head: base })).toEqual({ type: "pushed" });
  expect(await knownRemote(mirror, "feat")).toBe(base);
});
