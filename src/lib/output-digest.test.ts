import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { cpuTimer } from "../../test/cpu-timer.js";
import { digestOf, outputTails, plainText, renderTails } from "./output-digest.js";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ratchet-digest-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function outputs(stdout: string, stderr: string): [string, string] {
  writeFileSync(join(folder, "out"), stdout);
  writeFileSync(join(folder, "err"), stderr);
  return [join(folder, "out"), join(folder, "err")];
}

test.each([
  ["node:test", "TAP version 13\nok 1 - a\nnot ok 2 - adds numbers\n  ---\n", "", "not ok 2 - adds numbers"],
  ["a todo", "not ok 1 - later # TODO\nnot ok 2 - now\n", "", "not ok 2 - now"],
  ["vitest", "\u001b[31m FAIL \u001b[39m src/a.test.ts > sums\nAssertionError\n", "", "FAIL  src/a.test.ts > sums"],
  ["jest on stderr", "", "PASS a.test.js\nFAIL b.test.js\n  ● x\n", "FAIL b.test.js"],
  [
    "pytest",
    "=== short ===\nFAILED tests/t.py::test_x - assert 1 == 2\n1 failed\n",
    "",
    "FAILED tests/t.py::test_x - assert 1 == 2",
  ],
  ["go", "=== RUN TestX\n    --- FAIL: TestX (0.00s)\nFAIL\n", "", "--- FAIL: TestX (0.00s)"],
  ["cargo", "test a::b ... ok\ntest a::c ... FAILED\n", "error: test failed\n", "test a::c ... FAILED"],
  ["tsc", "src/a.ts(1,2): error TS2322: no\n", "", "src/a.ts(1,2): error TS2322: no"],
  ["eslint", "/x/a.js\n  1:5  error  'x' is unused  no-unused-vars\n", "", "1:5  error  'x' is unused  no-unused-vars"],
  [
    "unittest",
    "",
    "F\n=====\nFAIL: test_x (t.T.test_x)\n-----\nAssertionError: 1 != 2\n\nFAILED (failures=1)\n",
    "FAIL: test_x (t.T.test_x)",
  ],
  [
    "go that does not build",
    "FAIL\tshop [build failed]\nFAIL\n",
    "# shop\n./shop_test.go:6:2: undefined: foo\n",
    "./shop_test.go:6:2: undefined: foo",
  ],
  [
    "a go program",
    "",
    "panic: no shop\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:3 +0x1\nexit status 2\n",
    "panic: no shop",
  ],
  [
    "rustc",
    "",
    "error[E0425]: cannot find value `x`\n --> a.rs:1:1\nerror: could not compile\n",
    "error[E0425]: cannot find value `x`",
  ],
  [
    "tsc without a file",
    "error TS18003: No inputs were found.\n",
    "npm warn x\n",
    "error TS18003: No inputs were found.",
  ],
  ["eslint that cannot begin", "", "Oops! :(\n\nError: no config file\n    at a (b.js:1:2)\n", "Error: no config file"],
  ["node", "", "x.js:1\nboo()\n^\n\nError: boo\n    at x.js:1:1\n\nNode.js v20.20.2\n", "Error: boo"],
  ["bun", "", 'error: boo\nerror: script "test" exited with code 1\n', "error: boo"],
  ["an unknown tool", "working\n", "one\nall is lost\n\n", "all is lost"],
  ["stdout alone", "first\nlast words\n\n", "  \n", "last words"],
  ["silence", "", "", "(no output)"],
])("the digest of %s is the line that says what failed", async (_who, stdout, stderr, digest) => {
  expect(await digestOf(...outputs(stdout, stderr))).toBe(digest);
});

test("a digest is one line of at most 300 characters", async () => {
  const digest = await digestOf(...outputs(`${"x".repeat(299)}😀${"y".repeat(5000)}`, ""));
  expect(digest.length).toBeLessThanOrEqual(300);
  expect(digest).toBe(`${"x".repeat(299)}…`);
});

test("missing files are empty output", async () => {
  expect(await digestOf(join(folder, "no"), join(folder, "neither"))).toBe("(no output)");
});

test("F4 tails are at most 30 lines and 4096 characters each, whole characters, without colours", async () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`).join("\n");
  const tails = await outputTails(...outputs(lines, `\u001b[1m${"é😀".repeat(20_000)}\u001b[0m`));
  expect(tails.stdout.split("\n")).toHaveLength(30);
  expect(tails.stdout.endsWith("line 99")).toBe(true);
  expect(tails.stderr.length).toBeLessThanOrEqual(4096);
  expect(tails.stderr.length).toBeGreaterThan(4090);
  expect(/^(?:é|😀)+$/u.test(tails.stderr)).toBe(true);
  expect(renderTails({ stdout: "a", stderr: "b" })).toBe("stdout:\na\n\nstderr:\nb");
});

test.each([
  ["10%\r50%\r100%\r\nnext\r\n", "100%\nnext\n"],
  ["a\u0000b\u0008\tc", "ab\tc"],
  ["\u001b]0;title\u0007shown", "shown"],
])("%j reads as %j", (text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test("one endless line is handled in linear time", async () => {
  const spentMs = cpuTimer();
  await digestOf(...outputs("\u001b[".repeat(2_000_000), "z".repeat(5_000_000)));
  expect(spentMs()).toBeLessThan(5000);
});
