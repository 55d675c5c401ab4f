import { expect, it } from "vitest";
import { UserError } from "./errors.js";
import { ratchetHome, safeName } from "./home.js";

it.each([
  ["cart-1", "cart-1"],
  ["a.b_c", "a.b_c"],
  ["_a", "_a"],
  ["_runner", "_runner"],
  ["run.log2", "run.log2"],
  ["y".repeat(200), "y".repeat(200)],
])("%s is a name as it is", (id, name) => expect(safeName(id)).toBe(name));

it.each([
  "a b",
  "a/b",
  "..",
  "a..b",
  ".hidden",
  "x.lock",
  "y.lock.z",
  "end.",
  "@",
  "@{u}",
  "ü",
  "a:b",
  "a~1",
  "a^",
  "a?",
  "a*",
  "a[",
  "a\\b",
  "",
  "_run",
  "run.log",
  "Run.log",
  "workflow.json",
  "x".repeat(250),
])("%j becomes a name that git and the file system take, told apart by a hash", (id) => {
  expect(safeName(id)).toMatch(/^(?!\.)[A-Za-z0-9._-]{0,200}-[0-9a-f]{6,16}$/);
  expect(safeName(id)).not.toContain("..");
});

it.each([
  ["x.lock", "x--f53b53"],
  ["y.lock.z", "y-.z-d5b31d"],
  ["a.lock.lock", "a---717e5d"],
  ["yarn.lockfile", "yarn-file-4ce311"],
  ["a.lock.", "a---373d6b"],
  ["a..lock", "a-lock-779706"],
  [".lock", "-lock-f15932"],
  ["a@{1}", "a--1--241510"],
])("%s becomes %s", (id, name) => expect(safeName(id)).toBe(name));

it("an issue that is called like the run's own folder has another", () => {
  const { attempt } = ratchetHome({ RATCHET_HOME: "/x" });
  expect(attempt("r", null, "01-run_end")).toBe("/x/runs/r/_run/01-run_end");
  expect(attempt("r", "_run", "")).toMatch(/^\/x\/runs\/r\/-run-[0-9a-f]{6}$/);
});

it("ids that differ only in what is replaced stay apart", () => expect(safeName("a b")).not.toBe(safeName("a/b")));

it("an empty RATCHET_HOME counts as none", () => {
  expect(ratchetHome({ RATCHET_HOME: "" }).root).toBe(ratchetHome({}).root);
  expect(ratchetHome({ RATCHET_HOME: "/x" }).worktree("p/q", "i")).toMatch(/^\/x\/worktrees\/p-q-[0-9a-f]{6}\/i$/);
});

it("a path with a line break is refused", () => {
  expect(() => ratchetHome({ RATCHET_HOME: "/x/new\nline" })).toThrow(UserError);
});
