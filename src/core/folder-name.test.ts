import { expect, it } from "vitest";
import { folderName } from "./folder-name.js";

it("an ordinary name stays", () => expect(folderName("test-unit_2.fast")).toBe("test-unit_2.fast"));

it.each(["../../pwned", "..", ".", "a/b", "t;rm", "a b", ""])("%j stays inside of its folder", (name) => {
  expect(folderName(name)).toMatch(/^(?!\.)[A-Za-z0-9._-]+-[0-9a-f]{6}$|^-[0-9a-f]{6}$/);
  expect(folderName(name)).not.toContain("..");
});

it("a long name is cut and stays apart from others", () => {
  const names = ["a", "b"].map((end) => folderName(`${"n".repeat(300)}${end}`));
  for (const name of names) expect(name.length).toBeLessThan(130);
  expect(names[0]).not.toBe(names[1]);
});

it("names that differ only in what is replaced stay apart", () =>
  expect(folderName("a/b")).not.toBe(folderName("a b")));
