import { expect, test } from "vitest";
import { isOldGit, renderChecks } from "./doctor.js";

test.each([
  ["git version 2.39.5", false],
  ["git version 2.38.0", false],
  ["git version 2.37.9 (Apple Git-1)", true],
  ["git version 1.99", true],
  ["git version 3.0", false],
  ["something else", false],
])("%s is too old: %j", (text, isOld) => {
  expect(isOldGit(text)).toBe(isOld);
});

test("each check is a line, with advice below where something is missing", () => {
  const git = { name: "git", ok: true, detail: "git version 2.39.5", advice: null };
  const agent = { name: "agent", ok: false, detail: "my-agent was not found", advice: "install it" };
  expect(renderChecks([git, agent])).toEqual([
    "ok       git    git version 2.39.5",
    "MISSING  agent  my-agent was not found",
    "                → install it",
    "1 of 2 need attention",
  ]);
  expect(renderChecks([git]).at(-1)).toBe("everything that is needed is there");
});
