import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createApp } from "../../app.js";
import { codeOf, messageOf, UserError } from "../../lib/errors.js";

/** Where a demo lives: the sample repository and a state home of its own, so that nothing else is touched. */
export interface DemoFolder {
  readonly root: string;
  readonly repository: string;
  readonly home: string;
}

const prefix = "ratchet-demo-";
const mark = ".ratchet-demo";
const tidyAfterMs = 24 * 60 * 60_000;

export async function makeDemoFolder(dir: string | undefined, cwd: string): Promise<DemoFolder> {
  const root = dir === undefined ? await makeTemporary() : await makeNamed(resolve(cwd, dir), dir);
  const folder = { root, repository: join(root, "shop"), home: join(root, "home") };
  await mkdir(folder.repository);
  return folder;
}

async function makeTemporary(): Promise<string> {
  try {
    return await realpath(await mkdtemp(join(tmpdir(), prefix)));
  } catch (error) {
    throw new UserError(`the demo's folder cannot be made: ${messageOf(error)}`, {
      hint: "name another place: ratchet demo --dir FOLDER",
      cause: error,
    });
  }
}

async function makeNamed(path: string, dir: string): Promise<string> {
  try {
    await mkdir(path, { recursive: true });
    if ((await readdir(path)).length === 0) return await realpath(path);
  } catch (error) {
    throw new UserError(`--dir ${dir} cannot be used: ${messageOf(error)}`, { cause: error });
  }
  throw new UserError(`--dir ${dir} is not empty`, { hint: "name a new folder" });
}

/** A demo that has ended may be tidied away by a later one, unless it was to be kept. */
export async function markEnded({ root }: DemoFolder): Promise<void> {
  await writeFile(join(root, mark), "A later `ratchet demo` may remove this folder.\n");
}

/** Temporary folders of demos that ended a day ago or earlier. What cannot be removed is left alone. */
export async function tidyOldDemos(now: number): Promise<void> {
  // Nobody may look there, or it is not there: making a folder says so, where one is to be made.
  const names = await readdir(tmpdir()).catch(() => []);
  for (const name of names.filter((one) => one.startsWith(prefix))) {
    const path = join(tmpdir(), name);
    try {
      const { mtimeMs } = await stat(join(path, mark));
      const isOurs = (await readFile(join(path, mark), "utf8")).includes("ratchet demo");
      if (isOurs && now - mtimeMs > tidyAfterMs && (await isAsTheDemoLeftIt(path)))
        await rm(path, { recursive: true, force: true });
    } catch (error) {
      if (!["ENOENT", "EACCES", "EPERM", "ENOTDIR", "EBUSY"].includes(codeOf(error) ?? "")) throw error;
    }
  }
}

/** Nothing of a person's is in it: no other project's board or work, and no run but the demo's. A doubt is a no. */
async function isAsTheDemoLeftIt(root: string): Promise<boolean> {
  const [repository, home] = [join(await realpath(root), "shop"), join(root, "home")];
  const isKnown = (name: string) => [mark, "shop", "home"].includes(name);
  if (!(await readdir(root)).every(isKnown) || !existsSync(join(home, "ratchet.db"))) return false;
  const app = createApp({ cwd: root, env: { RATCHET_HOME: home } });
  try {
    const store = await app.store("reader");
    const projects = await store.projects("removed too");
    return projects.every(({ repoPath }) => repoPath === repository) && (await store.runs(null, 2)).length === 1;
  } catch {
    // Its database cannot be read: what is in it is not known.
    return false;
  } finally {
    app.close();
  }
}
