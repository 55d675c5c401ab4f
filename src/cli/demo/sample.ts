/**
 * What the demo plays with: a small shop with three failing tests, three issues, two reviewers that really read the
 * diff, and the script of an agent that makes the mistakes people know: it forgets a case, and it trusts its input.
 */
export const sampleFiles: Readonly<Record<string, string>> = {
  "README.md": "# A small shop\n\nThree of its tests fail. `node --test` shows which.\n",
  "package.json": `${JSON.stringify({ name: "small-shop", private: true, type: "module", scripts: { test: "node --test" } }, null, 2)}\n`,
  "src/cart.js": `/** What the items of a cart cost together, in cents. */
export function total(items) {
  return items.reduce((sum, item) => sum + item.price, 0);
}
`,
  "src/discount.js": `const codes = { SPRING: 10, LOYAL: 15 };

/** Percent off for a discount code; 0 when nobody knows it. */
export function percentOff(code) {
  return codes[code] ?? 0;
}
`,
  "src/money.js": `/** Cents as people write them. */
export function format(cents) {
  return String(cents);
}
`,
  "test/smoke.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/cart.js";

test("an empty cart costs nothing", () => assert.equal(total([]), 0));
`,
  "test/cart-total.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { total } from "../src/cart.js";

test("two of the same cost twice as much", () => assert.equal(total([{ price: 300, quantity: 2 }]), 600));
test("no quantity means one", () => assert.equal(total([{ price: 300 }]), 300));
`,
  "test/discount-codes.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { percentOff } from "../src/discount.js";

test("codes are known in any case", () => assert.equal(percentOff("spring"), 10));
test("an unknown code gives nothing", () => assert.equal(percentOff("winter"), 0));
`,
  "test/money-format.test.js": `import assert from "node:assert/strict";
import { test } from "node:test";
import { format } from "../src/money.js";

test("cents are written as euros", () => assert.equal(format(1234), "12.34 €"));
`,
  "ratchet.yaml": `commands:
  test: node --test test/smoke.test.js test/$RATCHET_ISSUE_ID.test.js
evidence_check:
  required: [test]
agent:
  type: scripted
  script: .demo/agent.yaml
max_agents: 3
per_issue_review:
  enabled: true
  reviewer_type: panel
  panel:
    - name: security
      reviewer_type: command
      command: [node, .demo/review-security.mjs]
    - name: docs
      reviewer_type: command
      command: [node, .demo/review-docs.mjs]
`,
  ".demo/diff.mjs": `import { execFileSync } from "node:child_process";

/** The lines that base..head adds, with file and line number. */
export function addedLines() {
  const range = process.env.RATCHET_BASE_SHA + ".." + process.env.RATCHET_HEAD_SHA;
  const diff = execFileSync("git", ["diff", "--unified=0", range, "--", "src"], { encoding: "utf8" });
  const added = [];
  let file = "";
  let line = 0;
  for (const text of diff.split("\\n")) {
    if (text.startsWith("+++ b/")) file = text.slice(6);
    else if (text.startsWith("@@")) line = Number(/\\+(\\d+)/.exec(text)[1]);
    else if (text.startsWith("+")) added.push({ file, line: line++, text: text.slice(1) });
  }
  return added;
}

export function answer(findings) {
  console.log(JSON.stringify({ verdict: findings.length === 0 ? "pass" : "fail", findings }));
}
`,
  ".demo/review-security.mjs": `import { addedLines, answer } from "./diff.mjs";

answer(
  addedLines()
    .filter(({ text }) => /new RegExp\\(\\s*[a-z]/.test(text))
    .map(({ file, line }) => ({
      file,
      line_start: line,
      line_end: line,
      priority: 0,
      title: "A regular expression is built from the customer's input",
      body: "A code such as \\".*\\" matches every discount. Compare strings instead.",
    })),
);
`,
  ".demo/review-docs.mjs": `import { readFileSync } from "node:fs";
import { addedLines, answer } from "./diff.mjs";

const changed = new Set(addedLines().map(({ file }) => file));
answer(
  [...changed].flatMap((file) => {
    const lines = readFileSync(file, "utf8").split("\\n");
    return lines.flatMap((text, index) => {
      const name = /^export function (\\w+)/.exec(text)?.[1];
      if (name === undefined || /\\*\\/$/.test(lines[index - 1] ?? "")) return [];
      return {
        file,
        line_start: index + 1,
        line_end: index + 1,
        priority: 1,
        title: "An exported function has lost its description",
        body: "Say in one line above it what " + name + " returns.",
      };
    });
  }),
);
`,
  ".demo/agent.yaml": `# Played by the scripted agent: the first entry that matches acts.
- when: { issue: cart-total, kind: implementer }
  do:
    - sleep: 0.4
    - write:
        path: src/cart.js
        text: |
          /** What the items of a cart cost together, in cents. */
          export function total(items) {
            return items.reduce((sum, item) => sum + item.price * item.quantity, 0);
          }
    - commit: Multiply by the quantity
    - say: The total now takes the quantity into account.
- when: { issue: cart-total, kind: gate_followup }
  do:
    - sleep: 0.3
    - write:
        path: src/cart.js
        text: |
          /** What the items of a cart cost together, in cents; no quantity means one. */
          export function total(items) {
            return items.reduce((sum, item) => sum + item.price * (item.quantity ?? 1), 0);
          }
    - commit: Take one where no quantity is given
    - say: Items without a quantity count once now.
- when: { issue: discount-codes, kind: implementer }
  do:
    - sleep: 0.4
    - write:
        path: src/discount.js
        text: |
          const codes = { SPRING: 10, LOYAL: 15 };

          // Codes are typed by hand, so their case does not matter.
          export function percentOff(code) {
            const pattern = new RegExp(code, "i");
            const found = Object.entries(codes).find(([known]) => pattern.test(known));
            return found ? found[1] : 0;
          }
    - commit: Compare discount codes in any case
    - say: Codes are matched whatever their case.
- when: { issue: discount-codes, kind: review_followup }
  do:
    - sleep: 0.3
    - write:
        path: src/discount.js
        text: |
          const codes = { SPRING: 10, LOYAL: 15 };

          /** Percent off for a discount code, in any case; 0 when nobody knows it. */
          export function percentOff(code) {
            return codes[code.toUpperCase()] ?? 0;
          }
    - commit: Look codes up by their upper case
    - say: The input is no longer used as a pattern, and the description is back.
- when: { issue: money-format, kind: implementer }
  do:
    - sleep: 0.4
    - write:
        path: src/money.js
        text: |
          /** Cents as people write them. */
          export function format(cents) {
            return (cents / 100).toFixed(2) + " €";
          }
    - commit: Write cents as euros
    - say: Amounts are written with two decimals.
`,
};

export const sampleIssues = [
  {
    id: "cart-total",
    title: "The cart ignores quantities",
    body: "Two books at 3.00 cost 3.00. They should cost 6.00.\nAcceptance: test/cart-total.test.js passes.",
    priority: 1,
  },
  {
    id: "discount-codes",
    title: "Discount codes only work in capitals",
    body: "Customers type `spring` and get nothing.\nAcceptance: test/discount-codes.test.js passes.",
    priority: 1,
  },
  {
    id: "money-format",
    title: "Prices are shown in cents",
    body: "1234 should read 12.34 €.\nAcceptance: test/money-format.test.js passes.",
    priority: 2,
  },
] as const;
