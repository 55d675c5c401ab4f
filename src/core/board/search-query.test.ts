import { expect, it } from "vitest";
import { toSearchQuery } from "./search-query.js";

it.each([
  ["login", '"login"*'],
  ["  login   cookie ", '"login"* "cookie"*'],
  ["rework-p-pr-42", '"rework-p-pr-42"*'],
  ['say "hello"', '"say"* """hello"""*'],
  ["a OR b* NEAR(c)", '"a"* "OR"* "b*"* "NEAR(c)"*'],
  ["zero\0byte", '"zero"* "byte"*'],
  ["half \ud800 pair", '"half"* "pair"*'],
  ["same same", '"same"*'],
])("%j becomes quoted words", (typed, query) => {
  expect(toSearchQuery(typed)).toBe(query);
});

it.each(["", "   ", "***", '"', "- ( )", "\0"])("%j has no word", (typed) => {
  expect(toSearchQuery(typed)).toBeNull();
});

it("a query is never longer than the index takes", () => {
  const typed = Array.from({ length: 10_000 }, (_, n) => `w${n}`).join(" ");
  expect(toSearchQuery(typed)?.split(" ")).toHaveLength(24);
});
