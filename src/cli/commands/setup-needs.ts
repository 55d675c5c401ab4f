const npmCi = /^npm (?:ci|clean-install)\b(?!.*--prefix)/;

const needs: readonly (readonly [RegExp, readonly string[]])[] = [
  [npmCi, ["package.json"]],
  [npmCi, ["package-lock.json", "npm-shrinkwrap.json"]],
  [/^pnpm (?:install|i)\b.*--frozen-lockfile/, ["pnpm-lock.yaml"]],
  [/^yarn\b.*--(?:frozen-lockfile|immutable)/, ["yarn.lock"]],
  [/^bun (?:install|i)\b.*--frozen-lockfile/, ["bun.lock", "bun.lockb"]],
  [/^uv sync\b/, ["pyproject.toml"]],
  [/^go mod download\b/, ["go.mod"]],
  [/^cargo fetch\b/, ["Cargo.toml"]],
];

/** Files that a setup needs in each worktree, as far as is known of the program it begins with: one of each group. */
export function neededForSetup(line: string): (readonly string[])[] {
  return needs.filter(([begins]) => begins.test(line.trim())).map(([, files]) => files);
}
