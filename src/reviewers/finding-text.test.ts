import { expect, test } from "vitest";
import { readOpening, saysNone } from "./finding-text.js";

test.each([
  "P1: leak",
  "P1 leak",
  "1. P1: leak",
  "- [ ] P1: leak",
  "a) P1 - leak",
  "`P1` leak",
  "**[P1]** leak",
  "(p1) leak",
  "🔴 P1: leak",
  "P1. leak",
  "P1 issue: leak",
])("a priority opens %s", (text) => {
  expect(readOpening(text)).toMatchObject({ priority: 1, rest: expect.stringMatching(/^(?:\. )?leak$/) });
});

test.each([
  "P1-P3 are looked at",
  "P0 and P1 checked",
  "P0/P1 checked",
  "P2P works",
  "P4: leak",
  "UP1: leak",
  "leak (P1)",
  ...[
    "p1.py",
    " P1.md",
    "P1/main.c",
    "P1/main.c:12",
    "./p2/main.c",
    "p0-config.yaml",
    "P1/Makefile",
    "p1_test.py is new",
  ],
])("no priority opens %s", (text) => {
  expect(readOpening(text)).toBeNull();
});

test.each(["P0-SQL injection", "P0/critical leak", "P0/critical: leak", "[P0/auth.ts] leak", "P0 in a.ts: leak"])(
  "a priority opens %s, which is no file",
  (text) => {
    expect(readOpening(text)).toMatchObject({ priority: 0 });
  },
);

test.each([
  ...["", "-", "✅", "none", "None.", "**None**", "✅ none", "n/a", "0", "false", "ok", "all resolved"],
  ...["none open", "None - looks good", "None found.", "none at this time", "None remaining", "none that block"],
  ...["nothing blocking", "Nothing to report", "No issues", "There are no issues.", "I found no issues."],
  ...["No blocking issues found in this change.", "No significant or blocking issues found", "No P0, P1 or P2 issues."],
  ...["no security holes", "no correctness problems", "no new findings this round", "No issues found. Looks good."],
  ...["No issues found, the change is fine.", "No blocking issues remain.", "No issues found in src/a.ts.", "LGTM"],
  ...[
    "No issues found (in this change).",
    "P0: none, P1: ok",
    "No correctness, security, or style issues",
    "no errors",
  ],
])("%j says that there is none", (text) => {
  expect(saysNone(text)).toBe(true);
});

test.each([
  ...["leak", "none of the callers checks the result", "None is dereferenced", "null dereference", "nothing checks it"],
  ...[
    "No rate limit",
    "No tests",
    "no error handling",
    "no handling of known issues",
    "No bug is reported to the user",
  ],
  ...["None, but the password is logged", "No issues except for the leak", "No issues; however, it leaks"],
  `No issues found ${"in this change ".repeat(9)}`,
  ...[
    "No style issues found. SQL injection in login().",
    "No style issues, SQL injection in login()",
    "None, it leaks",
  ],
  ...["None (user) is dereferenced in a.py", "None - deref in a.py line 3", "Nothing, SQL injection is left"],
  ...["No issues found. This leaks.", "No issues in a.ts, b.ts leaks", "nothing is fixed", "None of the code is fine"],
  ...["No input validation causes leaks", "No auth check, causing bugs", "No P0 issues, P1 issues remain"],
  ...["from round 1 is still there", "from round 1 is not fixed", "from round 1: none is fixed"],
])("%j does not say that there is none", (text) => {
  expect(saysNone(text)).toBe(false);
});
