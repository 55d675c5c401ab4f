import { expect, test } from "vitest";
import { hostOf, parseRemote, placeOf } from "./remote.js";

test.each([
  ["git@github.com:acme/shop.git", "github.com acme/shop"],
  ["github.com:acme/shop", "github.com acme/shop"],
  ["ssh://git@github.com/acme/shop.git", "github.com acme/shop"],
  ["ssh://git@ssh.github.com:443/acme/shop.git", "ssh.github.com acme/shop"],
  ["https://github.com/acme/shop", "github.com acme/shop"],
  ["https://jo:secret@GitHub.com/acme/shop.git/", "github.com acme/shop"],
  ["https://ghe.acme.org:8443/acme/my.shop.git\n", "ghe.acme.org acme/my.shop"],
  ["git://github.com/acme/shop.git", "github.com acme/shop"],
  ["/srv/git/shop.git", null],
  ["../shop.git", null],
  ["file:///srv/git/acme/shop.git", null],
  ["https://gitlab.com/group/sub/shop.git", null],
  ["https://github.com/acme", null],
  ["", null],
])("the remote %j is %j", (url, expected) => {
  const parsed = parseRemote(url);
  expect(parsed === null ? null : `${parsed.host} ${parsed.repo}`).toBe(expected);
});

const none = { repo: null, api_url: null };

test("what is configured comes before the remote", () => {
  const place = placeOf({ repo: "a/b", api_url: "http://127.0.0.1:1/" }, "git@github.com:acme/shop.git");
  expect(place).toEqual({ owner: "a", name: "b", repo: "a/b", apiUrl: "http://127.0.0.1:1" });
  expect(hostOf(place)).toBe("127.0.0.1");
});

test("without settings it is the remote's, on the public forge", () => {
  const place = placeOf(none, "git@github.com:acme/shop.git");
  expect([place.repo, place.apiUrl, hostOf(place)]).toEqual(["acme/shop", "https://api.github.com", "github.com"]);
});

test.each([
  [null, "forge.repo"],
  ["/srv/git/shop.git", "forge.repo"],
  ["https://ghe.acme.org/acme/shop.git", "forge.api_url: https://ghe.acme.org/api/v3"],
])("the remote %j alone is not enough, and the hint says what is missing", (url, hint) => {
  expect(() => placeOf(none, url)).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
});
