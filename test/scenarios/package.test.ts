import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { emptySandbox, program } from "./sandbox.js";

const repository = dirname(dirname(program));

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

test("what npm pack makes installs into an empty folder and runs the demo", { timeout: 240_000 }, () => {
  const { root, env } = emptySandbox();
  const folder = join(root, "empty");
  mkdirSync(folder);
  // The cache and registry of whoever runs the tests; dist is built already, and other tests are using it.
  const npm = (cwd: string, ...args: string[]) => execFileSync("npm", args, { cwd, encoding: "utf8", stdio: "pipe" });
  const packed: Packed[] = JSON.parse(
    npm(repository, "pack", "--ignore-scripts", "--json", "--pack-destination", root),
  );
  const { filename, files } = packed[0] ?? { filename: "", files: [] };
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(
    expect.arrayContaining(["package.json", "LICENSE", "README.md", "dist/ratchet.js", "dist/licences.txt"]),
  );
  expect(paths.filter((path) => /^(src|test|bench|node_modules)\/|\.test\./.test(path))).toEqual([]);
  npm(folder, "install", "--prefer-offline", "--no-audit", "--no-fund", join(root, filename));
  // All else is in our own files: what others publish next week is not what somebody installs.
  const { dependencies } = JSON.parse(npm(folder, "ls", "--all", "--json")).dependencies.ratchet;
  expect(Object.keys(dependencies)).toEqual(["@photostructure/sqlite"]);
  const ratchet = (...args: string[]) =>
    execFileSync(join(folder, "node_modules/.bin/ratchet"), args, { cwd: folder, env, encoding: "utf8" });
  const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"));
  expect(ratchet("--version").trim()).toBe(version);
  const said = ratchet("demo", "--dir", join(root, "demo"));
  expect(said).toMatch(/node --test afterwards: \d+ pass, 0 fail/);
  const log = execFileSync("git", ["log", "--format=%s", "main"], { cwd: join(root, "demo/shop"), encoding: "utf8" });
  expect(log).toContain("Look codes up by their upper case");
});
