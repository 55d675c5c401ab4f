import { expect, test } from "vitest";
import { editDistance, nearest } from "./suggest.js";

test.each([
  ["", "", 0],
  ["abc", "abc", 0],
  ["abc", "acb", 1],
  ["abc", "abcd", 1],
  ["kitten", "sitting", 3],
])("the distance between %s and %s is %i", (a, b, distance) => {
  expect(editDistance(a, b)).toBe(distance);
  expect(editDistance(b, a)).toBe(distance);
});

test.each([
  ["max_agent", "max_agents"],
  ["MaxAgents", "max_agents"],
  ["max-agents", "max_agents"],
  ["mxa_issues", "max_issues"],
  ["zebra", null],
  ["x".repeat(1000), null],
])("%s is nearest to %s", (word, expected) => {
  expect(nearest(word, ["max_agents", "max_issues", "agent"])).toBe(expected);
});
