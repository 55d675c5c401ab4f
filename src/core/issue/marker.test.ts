import { describe, expect, it } from "vitest";
import { lastMarker, parseMarker } from "./marker.js";

describe("a marker", () => {
  it.each([
    ["ISSUE_NO_CHANGE: nothing to do", { name: "NO_CHANGE", rationale: "nothing to do" }],
    ["  ISSUE_OBSOLETE:  gone  ", { name: "OBSOLETE", rationale: "gone" }],
    ["ISSUE_ALREADY_COMPLETE: in abc123", { name: "ALREADY_COMPLETE", rationale: "in abc123" }],
    ["ISSUE_DOCS_ONLY:", { name: "DOCS_ONLY", rationale: "" }],
    ["ISSUE_OTHER: x", null],
    ["see ISSUE_NO_CHANGE: x", null],
    ["ISSUE_NO_CHANGE", null],
    ["", null],
  ])("%j is read as %j", (line, marker) => {
    expect(parseMarker(line)).toEqual(marker);
  });

  it("is the last one of the message", () => {
    const lines = ["ISSUE_NO_CHANGE: the example", "text", "ISSUE_OBSOLETE: really", "bye"];
    expect(lastMarker(lines)).toEqual({ name: "OBSOLETE", rationale: "really" });
    expect(lastMarker(["none"])).toBeNull();
  });

  it("keeps a rationale of any length within bounds", () => {
    expect(parseMarker(`ISSUE_NO_CHANGE: ${"x".repeat(1_000_000)}`)?.rationale.length).toBe(1000);
  });
});
