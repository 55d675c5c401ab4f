import { expect, test } from "vitest";
import { resolveUrl } from "./submodules.js";

test.each([
  ["https://example.org/lib.git", "https://example.org/a/app.git", "https://example.org/lib.git"],
  ["../lib.git", "https://example.org/a/app.git", "https://example.org/a/lib.git"],
  ["../lib.git", "https://example.org/a/app.git/", "https://example.org/a/lib.git"],
  ["../../b/lib.git/", "https://example.org/a/app.git", "https://example.org/b/lib.git"],
  ["./lib.git", "https://example.org/a/app.git", "https://example.org/a/app.git/lib.git"],
  ["./../lib.git", "/srv/app", "/srv/lib.git"],
  ["../lib.git", "git@example.org:a/app.git", "git@example.org:a/lib.git"],
  ["../lib.git", "git@example.org:app.git", "git@example.org:lib.git"],
  ["../../lib.git", "git@example.org:a/app.git", "git@example.org:lib.git"],
  ["..lib", "/srv/app", "..lib"],
])("%s in %s is %s", (url, around, place) => {
  expect(resolveUrl(url, around)).toBe(place);
});
