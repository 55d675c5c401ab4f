import { describe, expect, it } from "vitest";
import { exactGateName, gateName, gatesMeant } from "./gate-names.js";

const gate = (runId: string, issueId: string | null, ...path: string[]) => ({
  runId,
  question: { issueId, calls: path.slice(0, -1), stage: path.at(-1) ?? "" },
});

describe("E7 names of open gates", () => {
  const own = gate("run-1", null, "ok");
  const called = gate("run-1", null, "sub", "ok");
  const ofIssue = gate("run-2", "i/1", "ok");
  const calledOfIssue = gate("run-2", "i/1", "sub", "ok");
  const later = gate("run-3", "i/1", "ok");
  const asked = [own, called, ofIssue, calledOfIssue, later];

  it("each has an exact one, which means it alone", () => {
    const names = asked.map(exactGateName);
    expect(names).toEqual(["run-1/ok", "run-1/sub/ok", "run-2/i/1/ok", "run-2/i/1/sub/ok", "run-3/i/1/ok"]);
    for (const [place, name] of names.entries()) expect(gatesMeant(asked, name)).toEqual([asked[place]]);
  });

  it.each([
    ["ok", asked],
    ["sub/ok", [called]],
    ["i/1/ok", [ofIssue, later]],
    ["i/1/sub/ok", [calledOfIssue]],
    ["run-2/ok", [ofIssue, calledOfIssue]],
    ["run/ok", asked],
    ["k", []],
    ["1/ok", [ofIssue, later]],
    ["run-9/ok", []],
    ["/ok", []],
  ])("%s means every gate that it may", (name, meant) => {
    expect(gatesMeant(asked, name)).toEqual(meant);
  });

  it("while only one is open, any of its parts will do", () => {
    for (const name of ["ok", "sub/ok", "i/1/ok", "run-2/ok", "run/i/1/sub/ok"])
      expect(gatesMeant([calledOfIssue], name)).toEqual([calledOfIssue]);
    expect(gateName(calledOfIssue.question)).toBe("i/1/sub/ok");
  });
});
