/** Commands to start from. The file's own commands override them one by one; null switches one off. */
export const presetNames = ["node-npm", "python-uv", "go", "rust"] as const;
export type PresetName = (typeof presetNames)[number];

export const presets: Readonly<Record<PresetName, Readonly<Record<string, string>>>> = {
  "node-npm": {
    setup: "npm ci",
    test: "npm test",
    lint: "npm run lint",
    format: "npm run format",
    typecheck: "npm run typecheck",
  },
  "python-uv": {
    setup: "uv sync",
    test: "uv run pytest",
    lint: "uvx ruff check .",
    format: "uvx ruff format --check .",
    typecheck: "uvx ty check",
  },
  go: {
    setup: "go mod download",
    test: "go test ./...",
    lint: "golangci-lint run",
    format: 'test -z "$(gofmt -l .)"',
    typecheck: "go vet ./...",
  },
  rust: {
    setup: "cargo fetch",
    test: "cargo test",
    lint: "cargo clippy --all-targets -- -D warnings",
    format: "cargo fmt --check",
    typecheck: "cargo check --all-targets",
  },
};

export function isPresetName(value: unknown): value is PresetName {
  return typeof value === "string" && Object.hasOwn(presets, value);
}
