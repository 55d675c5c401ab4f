import { spawnSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { headOf } from "../forge-server/git.js";

/** A bare repository, into which commits come as if somebody had pushed them. */
export interface ForgeRepository {
  readonly root: string;
  readonly gitDir: string;
  /** Commits these files on the branch, which begins at main; the new commit. */
  push(branch: string, files: Readonly<Record<string, string>>): Promise<string>;
  done(): void;
}

export async function forgeRepository(): Promise<ForgeRepository> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-forge-")));
  const gitDir = join(root, "origin.git");
  run(root, ["init", "-q", "--bare", "-b", "main", gitDir]);
  const push = async (branch: string, files: Readonly<Record<string, string>>): Promise<string> => {
    const parent = headOf(gitDir, branch) ?? headOf(gitDir, "main");
    run(gitDir, ["fast-import", "--quiet", "--force"], commitOf(branch, parent, files));
    return headOf(gitDir, branch) ?? "";
  };
  await push("main", { "a.txt": "one\ntwo\nthree\n" });
  return { root, gitDir, push, done: () => rmSync(root, { recursive: true, force: true, maxRetries: 5 }) };
}

function commitOf(branch: string, parent: string | null, files: Readonly<Record<string, string>>): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const changes = Object.entries(files).map(([name, text]) => `M 100644 inline ${name}\n${data(text)}`);
  return [
    `commit refs/heads/${branch}\ncommitter Jo <jo@localhost> ${Math.floor(Date.now() / 1000)} +0000\n`,
    data(`change ${Object.keys(files).join(", ")}`),
    parent === null ? "" : `from ${parent}\n`,
    ...changes,
    "\n",
  ].join("");
}

function run(cwd: string, args: readonly string[], input = ""): void {
  const { status, stderr } = spawnSync("git", args, { cwd, input, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
}
