import { expect, it } from "vitest";
import type { ItemStatus } from "../ports/tracker.js";
import { seesToEpic } from "./policy.js";

const finds = { findsEpics: true, verify: "now" } as const;
const follows = { findsEpics: false, verify: "now" } as const;

it.each<[string, Parameters<typeof seesToEpic>[0], boolean, ItemStatus[], ItemStatus, boolean]>([
  ["a run that looks for epics sees to one in its scope", finds, true, ["completed"], "available", true],
  ["not to one outside of it that is done already", finds, false, ["completed"], "available", false],
  ["but to one above an issue that it does itself", finds, false, ["completed", "available"], "available", true],
  ["a run of named issues looks above those", follows, false, ["failed"], "available", true],
  ["and not at an epic that is done without it", follows, true, ["completed"], "available", false],
  ["what somebody blocked stays blocked", finds, true, ["available"], "blocked", false],
  [
    "where nobody verifies, nothing is completed",
    { ...finds, verify: "later" },
    true,
    ["available"],
    "available",
    false,
  ],
])("%s", (_, policy, isInScope, children, status, expected) => {
  const epic = { status, isInScope, children: children.map((one) => ({ status: one })) };
  expect(seesToEpic(policy, epic)).toBe(expected);
});
