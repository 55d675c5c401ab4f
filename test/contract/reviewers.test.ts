import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Reviewer } from "../../src/core/ports/agent.js";
import { agentReviewer } from "../../src/reviewers/agent-sdk.js";
import { commandReviewer } from "../../src/reviewers/command.js";
import { agents } from "./process-support.js";
import { type ReviewerWorld, reviewerWorld } from "./reviewer-world.js";

let world: ReviewerWorld;
beforeEach(() => {
  world = reviewerWorld();
});
afterEach(() => world.done());

/** What every reviewer adapter must be able to show: one made to answer `output` and to exit with `code`. */
type Make = (code: number, output: string) => Reviewer;

const plain: Readonly<Record<string, Make>> = {
  command: (code, output) =>
    commandReviewer({ name: "security", command: [join(agents, "reviews.sh"), String(code), output] }),
  "agent_sdk (command)": (code, output) => {
    const shell = `cat >/dev/null; printf '%s\\n' '${output.replaceAll("'", "'\\''")}'; exit ${code}`;
    return agentReviewer({ name: "security", agent: world.command(shell) });
  },
  "agent_sdk (scripted)": (code, output) => {
    const said = output === "" ? [] : [{ say: output }];
    return agentReviewer({ name: "security", agent: world.scripted([...said, { exit: code }]) });
  },
};
const subjects: Readonly<Record<string, Make>> = {
  ...plain,
  cerberus: (code, output) => {
    const verdict = /\{"verdict[\s\S]*\}/.exec(output.replace('{"verdict": ', '{"verdict":'))?.[0];
    const print = verdict === undefined ? output : verdict.replace("{", '{"status":"resolved","current_iteration":1,');
    return world.cerberus({ wait: { code, print, crash: code > 128 } });
  },
};

const finding = { file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref", body: "x may be null" };
const fail = JSON.stringify({ verdict: "fail", findings: [finding] });

describe.each(Object.entries(subjects))("the %s reviewer", (_kind, make) => {
  test("A1 its findings arrive with every field", async () => {
    const { outcome, review } = await world.play(make(0, `I looked.\n\`\`\`json\n${fail}\n\`\`\``));
    expect(outcome).toEqual({ type: "ended" });
    expect(review).toEqual({
      type: "verdict",
      verdict: "fail",
      findings: [{ ...finding, body: { text: finding.body } }],
    });
  });

  test("a pass is passed on with its findings: what blocks is not decided here", async () => {
    const { review } = await world.play(make(0, fail.replace('"fail"', '"pass"')));
    expect(review).toMatchObject({ type: "verdict", verdict: "pass", findings: [{ title: "Null deref" }] });
  });

  test.each([
    [0, ""],
    [0, "LGTM"],
    [0, '{"verdict": "fail", "findings": []}'],
    [0, '{"verdict": "fail", "verdict": "pass", "findings": []}'],
    [1, '{"verdict": "pass", "findings": []}'],
    [137, '{"verdict": "pass"}'],
  ])("A8 exit %i with %j is never a pass", async (code, output) => {
    const { review } = await world.play(make(code, output));
    expect(review).toMatchObject({ type: "protocol", reason: expect.stringMatching(/./) });
  });

  test("a review that was lost or stopped has no verdict, whatever it had printed", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(files.result, '{"verdict": "pass", "findings": []}');
    expect(await make(0, "").read(files, null)).toMatchObject({ outcome: { type: "lost" }, review: null });
  });

  test("the result file wins over the output", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    const result = { session_id: "s", verdict: "fail", findings: [{ title: "T", priority: 1, reviewer: "jo" }] };
    writeFileSync(files.result, JSON.stringify(result));
    expect(await make(0, "").read(files, 0)).toMatchObject({
      sessionId: "s",
      review: { verdict: "fail", findings: [{ title: "T", reviewer: "jo" }] },
    });
  });

  test("a result file with a byte order mark is read like any other", async () => {
    const { files } = world.turn();
    writeFileSync(files.result, `\ufeff${JSON.stringify({ session_id: "s", verdict: "pass", findings: [] })}`);
    const read = await make(0, "").read(files, 0);
    expect(read).toMatchObject({ sessionId: "s", review: { type: "verdict", verdict: "pass" } });
  });

  test("A8 a result file that is too large is told as that, and leaves nothing to the output", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    const body = "z".repeat(11_000_000);
    writeFileSync(files.result, JSON.stringify({ verdict: "fail", findings: [{ title: "T", priority: 0, body }] }));
    const reason = "the result file is larger than 10 MiB";
    expect((await make(0, "").read(files, 0)).review).toEqual({ type: "protocol", reason });
  });

  test("A8 a result file that says two things is never a pass", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(files.result, '{"verdict": "fail", "verdict": "pass", "findings": []}');
    const reason = 'the result file says "verdict" twice, and not the same';
    expect((await make(0, "").read(files, 0)).review).toEqual({ type: "protocol", reason });
  });

  test("a result file that says two things of something else keeps its verdict", async () => {
    const { files } = world.turn();
    writeFileSync(files.result, '{"note": 1, "note": 2, "session_id": "s", "verdict": "pass", "findings": []}');
    const read = await make(0, "").read(files, 0);
    expect(read).toMatchObject({ sessionId: "s", review: { type: "verdict", verdict: "pass" } });
  });

  test("a long text is kept whole in a file and referred to", async () => {
    const { files } = world.turn();
    const body = `${"é".repeat(1023)}x${"😀 {`$".repeat(50_000)}`;
    writeFileSync(files.result, JSON.stringify({ verdict: "fail", findings: [finding, { ...finding, body }] }));
    const { review } = await make(0, "").read(files, 0);
    const remark = review?.type === "verdict" ? review.findings[1] : undefined;
    const path = join(files.folder, "finding-2.md");
    const bytes = Buffer.from(body);
    expect(remark?.body.ref).toEqual({
      path,
      bytes: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(body.startsWith(remark?.body.text ?? "?")).toBe(true);
    expect(Buffer.byteLength(remark?.body.text ?? "")).toBeGreaterThan(2040);
    expect(Buffer.byteLength(remark?.body.text ?? "")).toBeLessThanOrEqual(2048);
  });

  test("it is told who it is and what it judges", () => {
    expect(make(0, "").command(world.turn()).env).toMatchObject({
      RATCHET_ROLE: "reviewer",
      RATCHET_PROMPT_KIND: "review",
      RATCHET_ISSUE_ID: "i-1",
      RATCHET_REVIEWER: "security",
      RATCHET_BASE_SHA: world.base,
      RATCHET_HEAD_SHA: world.head,
      RATCHET_STAGE_ID: "per_issue_review/security",
    });
  });
});

describe.each(Object.entries(plain))("the %s reviewer speaks the plain protocol:", (_kind, make) => {
  test.each([
    [0, "", "no verdict in the output"],
    [0, "LGTM", "no verdict in the output"],
    [0, '{"verdict": "fail", "findings": []}', "fail without any finding"],
    [1, fail, "exit code 1"],
    [137, fail, "ended by signal 9"],
  ])("A8 exit %i with %j is told as: %s", async (code, output, reason) => {
    const { review } = await world.play(make(code, output));
    expect(review).toMatchObject({ type: "protocol", reason: expect.stringContaining(reason) });
  });

  test.each([
    [75, "transient"],
    [66, "no-session"],
  ])("exit %i is %s, without a word on the code", async (code, type) => {
    const { outcome, review } = await world.play(make(code, fail));
    expect(outcome.type).toBe(type);
    expect(review).toBe(null);
  });

  test("a result file without a verdict leaves the word to the output", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(files.result, '{"session_id": "s"}');
    expect(await make(0, "").read(files, 0)).toMatchObject({ sessionId: "s", review: { verdict: "pass" } });
  });

  test("A8 findings in a result file without a verdict are not passed over for a pass in the output", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    for (const key of ["findings", "Findings", "issues"]) {
      writeFileSync(files.result, `{"${key}": [{"title": "T", "priority": 0}]}`);
      const { review } = await make(0, "").read(files, 0);
      expect(review).toEqual({ type: "protocol", reason: "the answer has no verdict" });
    }
  });

  test("A8 a list of verdicts in a result file is not passed over for a pass in the output", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(files.result, `[${fail}, {"verdict": "pass"}]`);
    const { review } = await make(0, "").read(files, 0);
    expect(review).toEqual({ type: "protocol", reason: "the result file is no JSON object" });
  });

  test("A8 a result file with its keys in another case is an answer like any other", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(files.result, '{"Verdict": "fail", "Findings": [{"Title": "T", "Priority": 0}]}');
    const { review } = await make(0, "").read(files, 0);
    expect(review).toMatchObject({ verdict: "fail", findings: [{ title: "T", priority: 0 }] });
    writeFileSync(files.result, '{"Verdict": "fail", "verdict": "pass"}');
    const reason = '"verdict" is given twice, and not the same';
    expect((await make(0, "").read(files, 0)).review).toEqual({ type: "protocol", reason });
  });

  test("a verdict at the end of 10 MB of noise is found", async () => {
    const { files } = world.turn();
    writeFileSync(files.stdout, `${"{ noise }\n".repeat(1_000_000)}${fail}\n`);
    const { review } = await make(0, "").read(files, 0);
    expect(review).toMatchObject({ type: "verdict", verdict: "fail" });
  });

  test.each([
    ["all of the output is there", "", { type: "verdict", verdict: "pass" }],
    ["its beginning was left out", "noise\n".repeat(1_000_000), { type: "protocol" }],
  ])("a pass before a brace in prose, where %s", async (_where, noise, expected) => {
    const { files } = world.turn();
    writeFileSync(files.stdout, `${noise}{"verdict": "pass", "findings": []}\nThe \`}\` in line 3 is fine.\n`);
    expect((await make(0, "").read(files, 0)).review).toMatchObject(expected);
  });
});

test("a reviewer program that is missing is named, with a hint", async () => {
  const missing = await commandReviewer({ name: "security", command: ["no-such-reviewer"] }).check();
  expect(missing?.message).toContain("reviewer security");
  expect(missing?.message).toContain("no-such-reviewer was not found");
  expect(missing?.hint).toMatch(/install/);
});
