import { expect, test } from "vitest";
import { isKnownInside, rememberContained } from "./ancestry.js";

test("a commit is inside of what contains it, over any number of merges, and nothing else is known", () => {
  rememberContained("second", ["first", "work-1"]);
  rememberContained("third", ["second", "work-2"]);
  expect(isKnownInside("third", "third")).toBe(true);
  expect(isKnownInside("first", "third")).toBe(true);
  expect(isKnownInside("work-1", "third")).toBe(true);
  expect(isKnownInside("work-2", "second")).toBe(false);
  expect(isKnownInside("third", "first")).toBe(false);
  expect(isKnownInside("other", "third")).toBe(false);
});
