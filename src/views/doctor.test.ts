import { expect, test } from "vitest";
import type { AgentStatus } from "../core/ports/agent.js";
import { isOldGit, programCheck, renderChecks, tellOnce } from "./doctor.js";

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

const status: AgentStatus = { version: "2.1.0", known: true, loggedIn: true, advice: null };
const advice = "do something";
test.each<[what: string, status: AgentStatus | undefined, ok: boolean, detail: string]>([
  ["has nothing to tell", undefined, true, "claude"],
  ["is a known version", status, true, "claude 2.1.0, logged in"],
  [
    "is a version nobody has tried",
    { version: "3.0.0", known: false, loggedIn: null, advice },
    true,
    "claude 3.0.0 (not a version that Ratchet was tried with)",
  ],
  ["is not logged in", { ...status, loggedIn: false, advice }, false, "claude 2.1.0, not logged in"],
  [
    "is too old",
    { version: "1.0.33", known: false, loggedIn: null, advice, works: false },
    false,
    "claude 1.0.33 (too old)",
  ],
  [
    "does not answer as expected",
    { version: null, known: false, loggedIn: null, advice },
    false,
    "claude of unknown version",
  ],
])("an agent that %s is judged by it, and its advice is kept", (_, told, ok, detail) => {
  const check = programCheck({ name: "agent", kind: "claude" }, told);
  expect(check).toEqual({ name: "agent", ok, detail, advice: told?.advice ?? null });
});

test("what keeps several things from being looked at is told once, by the one that it is about", () => {
  const locked = { ok: false, detail: "the database is in use", advice: "wait" };
  const other = { name: "state home", ok: false, detail: "the database is in use", advice: "another folder" };
  const there = (name: string) => ({ name, ok: true, detail: "the database is in use", advice: "wait" });
  const checks = [{ name: "tracker", ...locked }, other, { name: "database", ...locked }, there("disk"), there("git")];
  const names = (nearest: string) => tellOnce(checks, nearest).map(({ name }) => name);
  expect(names("database")).toEqual(["state home", "database", "disk", "git"]);
  expect(names("nothing of that name")).toEqual(["tracker", "state home", "disk", "git"]);
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
