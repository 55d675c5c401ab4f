import { expect, it } from "vitest";
import { optionMeant } from "./gate-option.js";

const options = [
  { key: "y", label: "Yes" },
  { key: "N", label: "No, not yet" },
  { key: "yes", label: "N" },
  { key: "later", label: "Again" },
  { key: "never", label: "again" },
];

it.each([
  ["y", "y"],
  ["Y", "y"],
  ["n", "N"],
  ["N", "N"],
  [" no, NOT yet ", "N"],
  ["Yes", "yes"],
  ["Again", "later"],
  ["again", "never"],
  ["AGAIN", null],
  ["", null],
  ["No", null],
])("E7 %j means the option %j: keys come before labels, and a word that means two means none", (word, key) => {
  expect(optionMeant(options, word)?.key ?? null).toBe(key);
});
