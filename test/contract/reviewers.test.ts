import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Reviewer, Turn } from "../../src/core/ports/agent.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { startProgram } from "../../src/lib/process/start.js";
import { commandReviewer } from "../../src/reviewers/command.js";
import { agents } from "./process-support.js";

/** What every reviewer adapter must be able to show: one made to answer `output` and to exit with `code`. */
const subjects: Readonly<Record<string, (code: number, output: string) => Reviewer>> = {
  command: (code, output) =>
    commandReviewer({ name: "security", command: [join(agents, "reviews.sh"), String(code), output] }),
};

let root = "";
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ratchet-reviewers-"));
  mkdirSync(join(root, "attempt"));
  writeFileSync(join(root, "prompt.md"), "Review it.");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function turn(): Turn {
  const folder = join(root, "attempt");
  const files = {
    folder,
    stdout: join(folder, "stdout.log"),
    stderr: join(folder, "stderr.log"),
    result: join(folder, "result.json"),
  };
  const ids = { runId: "r1", issueId: "i-1", stageId: "per_issue_review/security", sessionId: null };
  const review = { reviewer: "security", baseSha: "aaa", headSha: "bbb" };
  return {
    role: "reviewer",
    prompt: "review",
    attempt: 1,
    model: null,
    effort: null,
    cwd: root,
    files,
    review,
    ...ids,
  };
}

async function play(reviewer: Reviewer): ReturnType<Reviewer["read"]> {
  const { files, cwd } = turn();
  const { argv, env } = reviewer.command(turn());
  const output = { stdinFile: join(root, "prompt.md"), stdoutFile: files.stdout, stderrFile: files.stderr };
  await startProgram({ folder: files.folder, argv, env: { PATH: process.env.PATH ?? "", ...env }, cwd, ...output });
  const end = await followProgram(files.folder, {
    signal: new AbortController().signal,
    timeoutAt: Date.now() + 30_000,
  });
  return reviewer.read(files, end.type === "exited" ? end.code : null);
}

const finding = { file: "a.ts", line_start: 10, line_end: 12, priority: 0, title: "Null deref", body: "x may be null" };
const fail = JSON.stringify({ verdict: "fail", findings: [finding] });

describe.each(Object.entries(subjects))("the %s reviewer", (_kind, make) => {
  test("A1 its findings arrive with every field", async () => {
    const { outcome, review } = await play(make(0, `I looked.\n\`\`\`json\n${fail}\n\`\`\``));
    expect(outcome).toEqual({ type: "ended" });
    expect(review).toEqual({
      type: "verdict",
      verdict: "fail",
      findings: [{ ...finding, body: { text: finding.body } }],
    });
  });

  test("a pass is passed on with its findings: what blocks is not decided here", async () => {
    const { review } = await play(make(0, fail.replace('"fail"', '"pass"')));
    expect(review).toMatchObject({ type: "verdict", verdict: "pass", findings: [{ title: "Null deref" }] });
  });

  test.each([
    [0, "", "no verdict in the output"],
    [0, "LGTM", "no verdict in the output"],
    [0, '{"verdict": "fail", "findings": []}', "fail without any finding"],
    [1, '{"verdict": "pass", "findings": []}', "exit code 1"],
    [137, '{"verdict": "pass"}', "ended by signal 9"],
  ])("A8 exit %i with %j is never a pass: %s", async (code, output, reason) => {
    const { review } = await play(make(code, output));
    expect(review).toMatchObject({ type: "protocol", reason: expect.stringContaining(reason) });
  });

  test.each([
    [75, "transient"],
    [66, "no-session"],
  ])("exit %i is %s, without a word on the code", async (code, type) => {
    const { outcome, review } = await play(make(code, fail));
    expect(outcome.type).toBe(type);
    expect(review).toBe(null);
  });

  test("a review that was lost or stopped has no verdict, whatever it had printed", async () => {
    const reviewer = make(0, "");
    writeFileSync(turn().files.stdout, '{"verdict": "pass", "findings": []}');
    expect(await reviewer.read(turn().files, null)).toMatchObject({ outcome: { type: "lost" }, review: null });
  });

  test("the result file wins over the output, and without a verdict in it the output counts", async () => {
    const reviewer = make(0, "");
    const { files } = turn();
    writeFileSync(files.stdout, '{"verdict": "pass", "findings": []}');
    writeFileSync(
      files.result,
      JSON.stringify({ session_id: "s", verdict: "fail", findings: [{ title: "T", reviewer: "jo" }] }),
    );
    expect(await reviewer.read(files, 0)).toMatchObject({
      sessionId: "s",
      review: { verdict: "fail", findings: [{ title: "T", reviewer: "jo" }] },
    });
    writeFileSync(files.result, '{"session_id": "s"}');
    expect(await reviewer.read(files, 0)).toMatchObject({ review: { verdict: "pass" } });
  });

  test("a long text is kept whole in a file and referred to", async () => {
    const body = `${"é".repeat(1023)}x${"😀 {`$".repeat(50_000)}`;
    writeFileSync(turn().files.result, JSON.stringify({ verdict: "fail", findings: [finding, { ...finding, body }] }));
    const { review } = await make(0, "").read(turn().files, 0);
    const remark = review?.type === "verdict" ? review.findings[1] : undefined;
    const path = join(root, "attempt", "finding-2.md");
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

  test("a verdict at the end of 10 MB of noise is found", async () => {
    const { files } = turn();
    writeFileSync(files.stdout, `${"{ noise }\n".repeat(1_000_000)}${fail}\n`);
    const { review } = await make(0, "").read(files, 0);
    expect(review).toMatchObject({ type: "verdict", verdict: "fail" });
  });

  test("it is told who it is and what it judges", () => {
    expect(make(0, "").command(turn()).env).toMatchObject({
      RATCHET_ROLE: "reviewer",
      RATCHET_PROMPT_KIND: "review",
      RATCHET_ISSUE_ID: "i-1",
      RATCHET_REVIEWER: "security",
      RATCHET_BASE_SHA: "aaa",
      RATCHET_HEAD_SHA: "bbb",
      RATCHET_STAGE_ID: "per_issue_review/security",
    });
  });
});

test("a reviewer program that is missing is named, with a hint", async () => {
  const missing = await commandReviewer({ name: "security", command: ["no-such-reviewer"] }).check();
  expect(missing?.message).toContain("reviewer security");
  expect(missing?.message).toContain("no-such-reviewer was not found");
  expect(missing?.hint).toMatch(/install/);
});
