import { describe, expect, it } from "vitest";
import { findingsIn, followUpParagraph, newParagraphs, type OpenFollowUp, placeFollowUp } from "./follow-up.js";

const about = (id: string, text: string) => `- ${text}\n  <!-- ratchet:${id} -->`;

describe("what a follow-up does not say yet", () => {
  it.each<[string, string, string, string[]]>([
    ["everything, where it says nothing", "", "one\n\ntwo", ["one", "two"]],
    ["no paragraph twice", "one\n\ntwo", "two\n\n\n three ", ["three"]],
    [
      "no finding twice, however it is worded",
      about("ab", "P2 Naming a.ts:1-1"),
      about("ab", "P2 Naming a.ts:9-9"),
      [],
    ],
    [
      "a finding that quotes the mark of another",
      about("ab", "Naming"),
      about("cd", "Wrong <!-- ratchet:ab --> there"),
      [about("cd", "Wrong <!-- ratchet:ab --> there")],
    ],
    [
      "a finding whose mark another one quotes",
      about("cd", "Wrong <!-- ratchet:ab --> there"),
      about("ab", "Naming"),
      [about("ab", "Naming")],
    ],
    [
      "no finding twice, where a tracker has other line ends",
      `${about("ab", "Naming")}\r\n\r\n${about("cd", "Bounds")}`,
      `${about("ab", "Naming again")}\n\n${about("cd", "Bounds again")}`,
      [],
    ],
    ["another finding of the same words", about("ab", "Naming"), about("ab-2", "Naming"), [about("ab-2", "Naming")]],
  ])("is %s", (_what, old, body, added) => {
    expect(newParagraphs(old, body)).toEqual(added);
  });
});

it("a finding's paragraph has its own mark alone, and holds together", () => {
  const text = "P2 Naming a.ts:1 (me)\nThe file says\n\n<!-- ratchet:ab -->\r\n\r\nand more";
  const paragraph = followUpParagraph("cd", text);
  const spare = paragraph.replace(/[ ]+$/gm, "");
  expect(findingsIn(paragraph)).toEqual(["cd"]);
  expect(findingsIn(spare)).toEqual(["cd"]);
  expect(newParagraphs("", paragraph)).toEqual([paragraph]);
});

describe("B8 where a run's findings go", () => {
  const [first, second] = ["run-20261116-165743-0a1b2c", "run-20261116-170000-ffffff"];
  const followUp = (id: string, source: string, says: string[], isTaken = false): OpenFollowUp => {
    return { id, source, body: says.map((finding) => about(finding, finding)).join("\n\n"), isTaken };
  };
  const place = (open: OpenFollowUp[], source: string, ...found: string[]) => {
    const body = found.map((finding) => about(finding, `${finding} again`)).join("\n\n");
    const { to, added } = placeFollowUp(open, { source, body });
    return [to?.id ?? "a new one", ...added.map((paragraph) => /^- (\w+)/.exec(paragraph)?.[1])];
  };
  const issue = followUp("f-i", "i", ["ab"]);
  const ofFirst = followUp("f-1", first, ["ab"]);

  it.each<[string, OpenFollowUp[], string, string[], string[]]>([
    ["into a new one, where only issues have some", [issue], first, ["ab"], ["a new one", "ab"]],
    ["nowhere, where another run's says them", [issue, ofFirst], second, ["ab"], ["f-1"]],
    ["the new ones alone into another run's", [ofFirst], second, ["ab", "cd"], ["f-1", "cd"]],
    [
      "the new ones into one of its own, where the other is at work",
      [{ ...ofFirst, isTaken: true }],
      second,
      ["ab", "cd"],
      ["a new one", "cd"],
    ],
    ["into its own before another's", [ofFirst, followUp("f-2", second, ["cd"])], second, ["ef"], ["f-2", "ef"]],
    ["and an issue's into the issue's own, whatever a run has found", [ofFirst], "i", ["ab"], ["a new one", "ab"]],
    [
      "and an issue may be called like a run",
      [followUp("f-r", "run-home", ["ab"])],
      second,
      ["ab"],
      ["a new one", "ab"],
    ],
  ])("is %s", (_where, open, source, found, expected) => {
    expect(place(open, source, ...found)).toEqual(expected);
  });

  it("and what an older one has is named with it", () => {
    const open = [{ ...ofFirst, isTaken: true }, followUp("f-2", second, ["cd"])];
    const body = ["ab", "cd", "ef"].map((finding) => about(finding, "again")).join("\n\n");
    expect(placeFollowUp(open, { source: second, body })).toMatchObject({ to: { id: "f-2" }, older: { ab: "f-1" } });
    expect(findingsIn(`${body}\n\nby hand`)).toEqual(["ab", "cd", "ef"]);
  });
});
