import { expect, test } from "vitest";
import { joinStatus, SpokenStatus } from "./spoken.js";

function read(text: string, review = true) {
  const spoken = new SpokenStatus();
  for (const line of text.split("\n")) spoken.hear(line);
  return spoken.end({ review });
}

const fails =
  '{"verdict": "fail", "findings": [{"priority": 1, "title": "It leaks", "file": "a.ts", "line_start": 3}]}';
test.each([
  [fails, "a.ts:3: It leaks"],
  [`I looked at it.\n\`\`\`json\n${fails}\n\`\`\`\nThat is all.`, "a.ts:3: It leaks"],
  ['{"verdict": "pass", "findings": [{"priority": 0, "title": "It leaks"}]}', "It leaks"],
  ['{"findings": [{"priority": "P1", "title": "It leaks"}]}', "It leaks"],
  ['{"verdict": "rejected"}', 'its reply says "rejected", which is no verdict'],
  ['{"verdict": "fail", "verdict": "pass"}', 'its reply says "verdict" twice, and not the same'],
  ['{"status": "fail", "failure_reason": "It leaks"}', "It leaks"],
  ['{"outcome": "retry"}', "its reply says retry"],
  ['{"verdict": "fail", "findings": [{"title": "cut o', "its reply says fail"],
  ["**Verdict:** FAIL", "its reply says FAIL"],
  ["status = failed", "its reply says failed"],
  ['{"verdict": "pass", "note": 1, "note": 2}', undefined],
  [`For example:\n${fails}\nHere:\n{"verdict": "pass", "findings": []}`, undefined],
  ['curl says {"status": 500} and {"status": "failed"}', undefined],
  ["It does not fail any more, and its status: fine", undefined],
  ["Verdict: fail would be wrong.\nVerdict: pass", undefined],
])("a review that says %s in place of a marker fails because of: %s", (text, failing) => {
  expect(read(text)?.failing).toBe(failing);
});

test("a marker is the review's word, and only a review is judged by other words", () => {
  expect(read(`${fails}\n[STATUS: success]`)).toMatchObject({ status: "success" });
  expect(read(`${fails}\n[STATUS: success]`)).not.toHaveProperty("failing");
  expect(read(fails, false)).toBeNull();
});

test("a result file that says nothing of the outcome leaves it to the reply", () => {
  const file = { from: "file", status: null, failureReason: null, preferredLabel: "again", nextIds: [] } as const;
  const joined = joinStatus(file, read("[STATUS: fail]\n[PREFERRED_LABEL: other]"));
  expect(joined).toMatchObject({ status: "fail", preferredLabel: "again" });
  expect(joinStatus({ ...file, status: "success" }, read("[STATUS: fail]"))).toMatchObject({ status: "success" });
  expect(joinStatus({ ...file, broken: "is cut off" }, read("[STATUS: success]"))?.status).toBeNull();
});
