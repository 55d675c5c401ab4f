import { expect, it } from "vitest";
import type { Issue, ItemStatus } from "../ports/tracker.js";
import type { IssueStatus } from "../record.js";
import { mayLiveAgain } from "./live-again.js";

const started = "2030-01-01T00:00:00.000Z";
const issue = (status: ItemStatus, changedAt?: number): Issue => ({
  ...{ id: "a", title: "a", body: "", type: "task", parent: null, deps: [], priority: 2 },
  status,
  ...(changedAt === undefined ? {} : { changedAt }),
});
const after = Date.parse(started) + 1;

it.each<[ItemStatus, number | undefined, IssueStatus | null, boolean, boolean?]>([
  ["available", after, null, true],
  ["available", after, "failed", true],
  ["available", after, "escalated", true],
  ["failed", after, "failed", false],
  ["available", after, "interrupted", false],
  ["available", after, "interrupted", true, true],
  ["claimed", after, "interrupted", false, true],
  ["available", after, "success", false, true],
  ["available", after, "success", false],
  ["available", after - 1, "failed", false],
  ["available", undefined, "failed", false],
])(
  "an issue that is %s, changed at %s, whose last life in the run ended %s may live again: %s (retried: %s)",
  async (status, at, last, may, retried = false) => {
    const life = last && { status: last, started_at: started };
    expect(await mayLiveAgain(issue(status, at), life, async () => retried)).toBe(may);
  },
);
