import { expect, test } from "vitest";
import type { IssueEvent } from "./events.js";
import { failWith, policyOf, remark, review, World } from "./fixture.js";

type Told = Partial<Extract<IssueEvent, { type: "tracker-done" }>>;

/** A review of the run, after a fixer's commit, that finds two things beside. */
function findings(told: Told) {
  const code_review = { ...review, enabled: true, track_review_issues: true };
  const policy = policyOf({ runEnd: { failure_mode: "remediate", max_retries: 1, code_review } });
  const world = new World(policy, { issueId: "", title: "run_end", life: 1, resume: null });
  const found = failWith(remark("Alpha", 3, "a.ts"), remark("Beta", 3, "b.ts"));
  world.play({ command: (_effect, n) => ({ exitCode: n === 1 ? 1 : 0 }), review: () => found, tracker: () => told });
  return world;
}
const reviewed = ({ ledger }: World["life"]) => ledger.findings.filter(({ source }) => source === "review");
const standing = ({ life }: World) => reviewed(life).map(({ title, status, reason }) => [title, status, reason]);

test("B8 what a run finds beside is waived with the follow-up that has it, an older one's too", () => {
  const first = findings({ ok: true, id: "f-8" });
  const alpha = reviewed(first.life)[0]?.id ?? "";
  expect(standing(findings({ ok: true, id: "f-8", older: { [alpha]: "f-7" } }))).toEqual([
    ["Alpha", "waived", "tracked as f-7"],
    ["Beta", "waived", "tracked as f-8"],
  ]);
});

test("B8 what a run finds beside stays open while the tracker has not been told", () => {
  const world = findings({ ok: false, reason: "database is locked", lost: false });
  expect(standing(world)).toEqual([
    ["Alpha", "open", null],
    ["Beta", "open", null],
  ]);
  expect([world.life.state.phase, world.life.state.trackerOwed]).toEqual(["done", true]);
});

test("C13 what a run's own trigger tells is told as the run's", () => {
  const world = new World(policyOf({ runEnd: {} }), { issueId: "", title: "run_end", life: 1, resume: null });
  world.play({ command: () => ({ discarded: ["a.ts"] }) });
  expect(world.reported("log")[0]?.text).toBe("run: one changed files, which were put back: a.ts");
});
