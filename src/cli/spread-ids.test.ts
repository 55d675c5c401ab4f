import { expect, it } from "vitest";
import { spreadIds } from "./spread-ids.js";

it.each([
  ["work dep c --on a b", "work dep c --on a --on b"],
  ["work dep c --on a b --remove --json", "work dep c --on a --on b --remove --json"],
  ["work dep c --remove --on a b --on d e", "work dep c --remove --on a --on b --on d --on e"],
  ["work dep c --on a,b", "work dep c --on a,b"],
  ["work add Title --dep a b --priority P1", "work add Title --dep a --dep b --priority P1"],
])("takes every word behind the option for an id: %s", (typed, meant) => {
  expect(spreadIds(typed.split(" "))).toEqual(meant.split(" "));
});

it.each([
  "work dep --on a c",
  "work dep --on a b c",
  "work add --dep a Title",
  "work add Title --body a b",
  "work dep c --on",
  "work dep c --on -- a b",
  "work add",
  "work list --status a b",
  "run --dep a b",
  "",
])("leaves everything else as it is: %s", (typed) => {
  expect(spreadIds(typed.split(" "))).toEqual(typed.split(" "));
});
