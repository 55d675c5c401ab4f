import { describe, expect, it } from "vitest";
import { newParagraphs } from "./follow-up.js";

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
    ["another finding of the same words", about("ab", "Naming"), about("ab-2", "Naming"), [about("ab-2", "Naming")]],
  ])("is %s", (_what, old, body, added) => {
    expect(newParagraphs(old, body)).toEqual(added);
  });
});
