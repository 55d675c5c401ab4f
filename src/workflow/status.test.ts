import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asStatus, type StatusRead, StatusReader } from "./status.js";

function readStatus(text: string): StatusRead | null {
  const reader = new StatusReader();
  reader.push(text);
  return reader.end();
}

describe("status markers", () => {
  const rows: [string, string, Partial<StatusRead> | null][] = [
    ["nothing", "all fine", null],
    ["any case", "[status: Success]", { status: "success" }],
    ["bold and spaced", "**[ STATUS :  partial_success ]**", { status: "partial_success" }],
    ["E6 the last wins", "e.g. [STATUS: fail]\nso\n[STATUS: success]", { status: "success" }],
    [
      "E6 a quoted example loses with its reason",
      "[STATUS: fail]\n[FAILURE_REASON: example]\n…\n[STATUS: fail]",
      { status: "fail", failureReason: null },
    ],
    [
      "E6 the last reason wins",
      "[STATUS: fail]\n[FAILURE_REASON: example]\n[STATUS: fail]\n[FAILURE_REASON: mine]",
      { status: "fail", failureReason: "mine" },
    ],
    ["a reason first", "[FAILURE_REASON: mine]\n[STATUS: fail]", { status: "fail", failureReason: "mine" }],
    [
      "a reason first, twice",
      "[FAILURE_REASON: example]\n[STATUS: fail]\n[FAILURE_REASON: mine]\n[STATUS: retry]",
      { status: "retry", failureReason: "mine" },
    ],
    ["E6 the template is no status", "[STATUS: success|fail]", { status: null, invalid: "success|fail" }],
    [
      "E6 a last word that is none is no status",
      "[STATUS: success]\n[STATUS: great]",
      { status: null, invalid: "great" },
    ],
    ["brackets", "[STATUS: fail]\n[FAILURE_REASON: a[0] is [x] here] tail", { failureReason: "a[0] is [x] here" }],
    ["a lone bracket", "[STATUS: fail]\n[FAILURE_REASON: missing ] in f]", { failureReason: "missing ] in f" }],
    ["text behind", "[STATUS: fail] [FAILURE_REASON: x] see a[0]", { failureReason: "x" }],
    ["an open bracket", "[STATUS: fail]\n[FAILURE_REASON: a[0 is bad]\nmore", { failureReason: "a[0 is bad" }],
    ["several lines", "[STATUS: fail]\n[FAILURE_REASON: one\ntwo]", { failureReason: "one\ntwo" }],
    ["a status in a reason", "[STATUS: fail]\n[FAILURE_REASON: saw [STATUS: success]]", { status: "fail" }],
    ["success has no reason", "[FAILURE_REASON: old]\n[STATUS: success]", { status: "success", failureReason: null }],
    [
      "hints",
      "[STATUS: success]\n[PREFERRED_LABEL: Go on]\n[NEXT: a, b]",
      { preferredLabel: "Go on", nextIds: ["a", "b"] },
    ],
    ["a hint alone", "[NEXT: a]", { status: null, nextIds: ["a"] }],
    ["unfinished", "[STATUS: succ", null],
  ];
  it.each(rows)("are read: %s", (_name, text, expected) => {
    if (expected === null) expect(readStatus(text)).toBeNull();
    else expect(readStatus(text)).toMatchObject(expected);
  });

  it("are the same however the text is cut into pieces", () => {
    const piece = fc.constantFrom(
      "[STATUS: fail]",
      "[FAILURE_REASON: a [b] c]",
      "[",
      "]",
      "\n",
      "[NEXT: x]",
      "word ",
      "[STATUS: ",
    );
    const text = fc
      .array(fc.oneof(piece, fc.constant("x".repeat(5000))), { maxLength: 12 })
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 6000 }), { minLength: 1, maxLength: 8 }), (whole, sizes) => {
        const reader = new StatusReader();
        for (let at = 0, n = 0; at < whole.length; n += 1) {
          const size = sizes[n % sizes.length] ?? 1;
          reader.push(whole.slice(at, at + size));
          at += size;
        }
        expect(reader.end()).toEqual(readStatus(whole));
      }),
      { numRuns: 60 },
    );
  });

  it("are words of their own", () => {
    expect([asStatus(" FAIL "), asStatus("skipped"), asStatus("failed"), asStatus(null)]).toEqual([
      "fail",
      null,
      null,
      null,
    ]);
  });
});
