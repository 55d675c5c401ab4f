import { expect, test } from "vitest";
import type { PresetName } from "../../config/presets.js";
import { type ProjectFiles, readStacks } from "./stacks.js";

function on(files: ProjectFiles, preset: PresetName): string[] {
  return readStacks(files)
    .candidates[preset].filter(({ isOn }) => isOn)
    .map(({ name, line }) => `${name}: ${line}`);
}
function why(files: ProjectFiles, preset: PresetName, name: string): string | null | undefined {
  return readStacks(files).candidates[preset].find((one) => one.name === name)?.why;
}
const scripts = (some: Record<string, string>) => JSON.stringify({ scripts: some });

test.each([
  [{}, []],
  [{ "go.mod": "module x" }, ["go"]],
  [{ "Cargo.toml": "", "package.json": "{}" }, ["node-npm", "rust"]],
  [{ "pyproject.toml": "" }, ["python-uv"]],
])("%j is the stack %j", (files: ProjectFiles, presets) => {
  expect(readStacks(files).stacks.map(({ preset }) => preset)).toEqual(presets);
});

test("of package.json's scripts those of the preset are commands, with the preset's own lines", () => {
  const files = { "package.json": scripts({ test: "vitest", lint: "biome", build: "tsc" }), "package-lock.json": "" };
  expect(on(files, "node-npm")).toEqual(["setup: npm ci", "test: npm test", "lint: npm run lint"]);
  expect(why(files, "node-npm", "typecheck")).toBe("package.json has no script typecheck");
});

test.each([
  ["no lock file", { "package.json": scripts({}) }, "setup", "there is no lock file"],
  ["no package.json", {}, "test", "there is no package.json yet"],
  ["broken JSON", { "package.json": "{" }, "test", "package.json is not valid JSON"],
  ["scripts of another kind", { "package.json": '{"scripts": [1]}' }, "test", "package.json has no script test"],
  [
    "npm's own beginning",
    { "package.json": scripts({ test: 'echo "Error: no test specified" && exit 1' }) },
    "test",
    "package.json has only the empty test script",
  ],
])("a command is off and says why: %s", (_, files: ProjectFiles, name, reason) => {
  expect(why(files, "node-npm", name)).toBe(reason);
});

test.each([
  ["pnpm-lock.yaml", ["setup: pnpm install --frozen-lockfile", "test: pnpm test", "lint: pnpm run lint"]],
  ["yarn.lock", ["setup: yarn install --frozen-lockfile", "test: yarn test", "lint: yarn run lint"]],
  ["bun.lock", ["setup: bun install --frozen-lockfile", "test: bun run test", "lint: bun run lint"]],
])("%s tells the package manager", (lock, lines) => {
  expect(on({ "package.json": scripts({ test: "t", lint: "l" }), [lock]: "" }, "node-npm")).toEqual(lines);
});

test("a lock file that git ignores is in no worktree: another one counts, and without one there is no setup", () => {
  const files = { "package.json": scripts({ test: "t" }), "pnpm-lock.yaml": "", "package-lock.json": "" };
  const setups = (...ignored: string[]) =>
    readStacks(files, ignored).candidates["node-npm"].filter(({ name }) => name === "setup");
  expect(setups("pnpm-lock.yaml")).toMatchObject([{ line: "npm ci", isOn: true }]);
  const why = "package-lock.json is ignored by git, so in no worktree";
  expect(setups("package-lock.json", "pnpm-lock.yaml")).toMatchObject([{ isOn: false, why }]);
});

test("other scripts are offered, servers and life-cycle scripts are not", () => {
  const files = { "package.json": scripts({ build: "b", "test:e2e": "e", dev: "d", postinstall: "p", prepare: "h" }) };
  const { "node-npm": candidates } = readStacks(files).candidates;
  expect(candidates.filter(({ why: reason }) => reason === null).map(({ name, isOn }) => [name, isOn])).toEqual([
    ["build", false],
    ["test:e2e", false],
  ]);
});

test.each([
  ["prettier --write .", false],
  ["prettier --check .", true],
])("a format script %j judges: %j", (format, judges) => {
  const { "node-npm": candidates } = readStacks({ "package.json": scripts({ format }) }).candidates;
  expect(candidates.find(({ name }) => name === "format")?.isEvidence).toBe(judges);
});

test.each([
  ["[project]", ["setup"]],
  ['[project]\ndev = ["pytest"]', ["setup", "test"]],
  ["[project]\n[tool.ruff]\n[tool.ty.rules]", ["setup", "lint", "format", "typecheck"]],
  ['[project]\nrequires = ["pretty", "truffle"]', ["setup"]],
  ["[tool.uv.workspace]\nmembers = []\n[tool.pytest]", ["setup", "test"]],
  ["[tool.ruff]\n[tool.pytest.ini_options]", ["lint", "format"]],
  ["[tool.poetry]\n[tool.poetry.dev-dependencies]\npytest = '*'", []],
])("pyproject.toml %j has %j", (text, names) => {
  const { "python-uv": candidates } = readStacks({ "pyproject.toml": text }).candidates;
  expect(candidates.filter(({ isOn }) => isOn).map(({ name }) => name)).toEqual(names);
});

test("a folder of tests is enough for pytest", () => {
  expect(on({ "pyproject.toml": "[project]", tests: "" }, "python-uv")).toContain("test: uv run pytest");
});

test("uv runs nothing in a pyproject.toml that is no project", () => {
  for (const name of ["setup", "test"])
    expect(why({ "pyproject.toml": "[tool.ruff]", tests: "" }, "python-uv", name)).toContain("has no [project]");
});

test("golangci-lint is only used where it is configured", () => {
  expect(why({ "go.mod": "" }, "go", "lint")).toBe("there is no .golangci.yml");
  expect(why({ "go.mod": "", ".golangci.yaml": "" }, "go", "lint")).toBeNull();
});

test("of a stack that is not there nothing is on", () => {
  for (const preset of ["node-npm", "python-uv", "go", "rust"] as const) expect(on({}, preset)).toEqual([]);
});
