import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "./decide.js";

const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-guard-")));
const worktree = join(root, "wt");
const tmp = join(root, "tmp");

beforeAll(() => {
  for (const folder of [join(worktree, "src"), join(worktree, "sub"), tmp]) mkdirSync(folder, { recursive: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function allows(line: string): boolean {
  const guard = { worktree, readOnly: true, writable: [tmp] };
  const place = { home: join(root, "home"), tmp, env: {}, ownsProcess: () => false };
  return decide(guard, { kind: "shell", command: line.replaceAll("TMP", tmp), cwd: worktree }, place).allow;
}

const reading = [
  "git log --oneline -5 && git diff HEAD~1 --stat",
  "git show HEAD:src/a.ts | head -20",
  "rg -n 'foo|bar' src | head",
  "find . -name '*.ts' | xargs wc -l",
  "find . -name '*.ts' -exec cat {} +",
  "sed -n '10,30p;40p' src/a.ts",
  "awk 'NR>3 {print $1}' a",
  "cd sub && ls -la",
  "echo x > TMP/notes; cat TMP/notes",
  "for f in a b; do cat $f; done",
  "git branch -a; git tag -l; git stash list",
  "jq .name package.json; node --version",
];
const changing = [
  "touch a",
  "echo x > src/a",
  "echo x > .git/config",
  "npm test",
  "node -e 1",
  "./run.sh",
  "bash run.sh",
  "git commit -am x",
  "git checkout main",
  "git branch x",
  "git tag x",
  "git stash",
  "git config user.name x",
  "git fetch",
  "git -c diff.external=x diff",
  "git diff --ext-diff",
  "sed -i s/a/b/ a",
  "sed -n 'w a' b",
  "awk '{ system(\"ls\") }' a",
  "awk '{ print > \"a\" }' b",
  "find . -delete",
  "find . -exec touch {} +",
  "ls | xargs rm",
  "sort -o a b",
  "rm TMP/../wt/a",
  "python3 -c 1",
  "LD_PRELOAD=x ls",
  "curl http://x",
];

describe("the guard of a reviewer", () => {
  it.each(reading)("lets pass %s", (line) => expect(allows(line)).toBe(true));
  it.each(changing)("refuses %s", (line) => expect(allows(line)).toBe(false));
});
