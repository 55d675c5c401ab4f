import { type PresetName, presetNames, presets } from "../../config/presets.js";
import { parseJson } from "../../lib/parse-json.js";
import type { Candidate, Found } from "./answers.js";

/** The files that tell a stack, as far as they are there; null: not there. */
export type ProjectFiles = Readonly<Record<string, string | null>>;

const markers: Readonly<Record<PresetName, string>> = {
  "node-npm": "package.json",
  "python-uv": "pyproject.toml",
  go: "go.mod",
  rust: "Cargo.toml",
};

const lockFiles = ["package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];
const golangciFiles = [".golangci.yml", ".golangci.yaml", ".golangci.toml", ".golangci.json"];

/** Everything worth a look. Of those without a text of interest it is enough that they are there. */
export const telltales = {
  locks: lockFiles,
  texts: Object.values(markers),
  names: [...lockFiles, ...golangciFiles, "tests", "test"],
} as const;

/** Which presets fit, and which of their commands the project really has. `ignored`: files that git leaves out. */
export function readStacks(files: ProjectFiles, ignored: readonly string[] = []): Pick<Found, "stacks" | "candidates"> {
  const stacks = presetNames.filter((preset) => isThere(files, markers[preset]));
  return {
    stacks: stacks.map((preset) => ({ preset, file: markers[preset] })),
    candidates: {
      "node-npm": nodeCandidates(files, ignored),
      "python-uv": judged("python-uv", pythonReasons(files)),
      go: judged("go", goReasons(files)),
      rust: judged("rust", missingMarker(files, "rust")),
    },
  };
}

function isThere(files: ProjectFiles, name: string): boolean {
  return (files[name] ?? null) !== null;
}

/** Why a command of the preset is not there; no reason: it is. */
type Reasons = (name: string) => string | null;

function judged(preset: PresetName, reasons: Reasons): Candidate[] {
  return Object.entries(presets[preset]).map(([name, line]) => toCandidate({ name, line, why: reasons(name) }));
}

function toCandidate({ name, line, why }: Pick<Candidate, "name" | "line" | "why">): Candidate {
  const isOn = why === null;
  return { name, line, isOn, why, isEvidence: isOn && ["test", "lint", "format", "typecheck"].includes(name) };
}

function missingMarker(files: ProjectFiles, preset: PresetName): Reasons {
  const why = isThere(files, markers[preset]) ? null : `there is no ${markers[preset]} yet`;
  return () => why;
}

/** uv syncs, and runs in, nothing else: a file with settings of tools alone, or Poetry's own, is no project to it. */
const uvProject = /^\s*\[\s*(?:project|tool\.uv\.workspace)\s*[.\]]/m;

function pythonReasons(files: ProjectFiles): Reasons {
  const text = files["pyproject.toml"] ?? null;
  if (text === null) return missingMarker(files, "python-uv");
  const noProject = uvProject.test(text) ? null : "pyproject.toml has no [project], so uv refuses it";
  const hasTests = /pytest/.test(text) || isThere(files, "tests") || isThere(files, "test");
  const hasRuff = /\bruff\b/.test(text);
  const reasons: Readonly<Record<string, string | null>> = {
    setup: noProject,
    test: noProject ?? (hasTests ? null : "pyproject.toml says nothing of pytest, and there is no folder tests"),
    lint: hasRuff ? null : "pyproject.toml says nothing of ruff",
    format: hasRuff ? null : "pyproject.toml says nothing of ruff",
    typecheck: /\[tool\.ty\b|["']ty\b/.test(text) ? null : "pyproject.toml says nothing of ty",
  };
  return (name) => reasons[name] ?? null;
}

function goReasons(files: ProjectFiles): Reasons {
  if (!isThere(files, "go.mod")) return missingMarker(files, "go");
  const hasLint = golangciFiles.some((name) => isThere(files, name));
  return (name) => (name === "lint" && !hasLint ? "there is no .golangci.yml" : null);
}

const managers = [
  { lock: "pnpm-lock.yaml", run: "pnpm run", test: "pnpm test", setup: "pnpm install --frozen-lockfile" },
  { lock: "yarn.lock", run: "yarn run", test: "yarn test", setup: "yarn install --frozen-lockfile" },
  { lock: "bun.lock", run: "bun run", test: "bun run test", setup: "bun install --frozen-lockfile" },
  { lock: "bun.lockb", run: "bun run", test: "bun run test", setup: "bun install --frozen-lockfile" },
] as const;
const npm = { run: "npm run", test: presets["node-npm"].test ?? "", setup: presets["node-npm"].setup ?? "" };

function nodeCandidates(files: ProjectFiles, ignored: readonly string[]): Candidate[] {
  const text = files["package.json"] ?? null;
  const locks = lockFiles.filter((name) => isThere(files, name));
  // An ignored one is in no worktree.
  const kept = locks.filter((name) => !ignored.includes(name));
  const telling: readonly string[] = kept.length > 0 ? kept : locks;
  const manager = managers.find(({ lock }) => telling.includes(lock)) ?? npm;
  const scripts = scriptsIn(text);
  const ofPreset = Object.keys(presets["node-npm"]).map((name): Candidate => {
    if (name === "setup") return toCandidate({ name, line: manager.setup, why: whyNoSetup(text, locks, kept) });
    const script = scripts[name];
    const line = name === "test" ? manager.test : `${manager.run} ${name}`;
    const candidate = toCandidate({ name, line, why: whyNoScript(name, script, text) });
    // A formatter that rewrites always succeeds: it proves nothing.
    return { ...candidate, isEvidence: candidate.isEvidence && (name !== "format" || /check/.test(script ?? "")) };
  });
  const others = Object.keys(scripts).filter((name) => isOffered(name) && !Object.hasOwn(presets["node-npm"], name));
  return [
    ...ofPreset,
    ...others.map((name) => ({ name, line: `${manager.run} ${name}`, isOn: false, why: null, isEvidence: false })),
  ];
}

function whyNoSetup(text: string | null, locks: readonly string[], kept: readonly string[]): string | null {
  if (text === null) return "there is no package.json yet";
  if (kept.length > 0) return null;
  const [lock] = locks;
  return lock === undefined ? "there is no lock file" : `${lock} is ignored by git, so in no worktree`;
}

/** Told besides where the file is written: it has more than no scripts. */
export const brokenPackage = "package.json is not valid JSON";

function whyNoScript(name: string, script: string | undefined, text: string | null): string | null {
  if (text === null) return "there is no package.json yet";
  if (parsePackage(text) === null) return brokenPackage;
  if (script === undefined) return `package.json has no script ${name}`;
  return /no test specified/.test(script) ? "package.json has only the empty test script" : null;
}

/** What a person would let judge a commit; servers, watchers and life-cycle scripts are not. */
function isOffered(name: string): boolean {
  if (!/^[\w:.-]{1,64}$/.test(name) || /watch|serve|dev|start|preview|publish|release|deploy/.test(name)) return false;
  return !/^(pre|post)/.test(name) && !["install", "prepare", "version"].includes(name);
}

function scriptsIn(text: string | null): Readonly<Record<string, string>> {
  const parsed = parsePackage(text ?? "{}");
  const scripts = isRecord(parsed) ? parsed.scripts : null;
  if (!isRecord(scripts)) return {};
  return Object.fromEntries(
    Object.entries(scripts).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

function parsePackage(text: string): unknown {
  return parseJson(text.replace(/^\ufeff/, ""));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
