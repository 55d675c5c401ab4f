import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf } from "../../lib/errors.js";
import { namesIn, statsOf } from "../../lib/files.js";
import { withLock } from "../../lib/lock.js";
import { isGone } from "../../lib/process-identity.js";
import { tellOfLocks } from "../abandoned-lock.js";
import { type CheckoutTemplate, readConversion, writeTemplate } from "../checkout/checkout-template.js";
import { gitText, runTool, startsManyCommands } from "../git.js";
import { unmarkParked } from "../parking/parking.js";
import { removeTree } from "../remove-tree.js";
import { commonDirOf, readConfig } from "../repository.js";
import { readOr, writeIfChanged } from "../small-files.js";
import { withObjectsOf } from "./clone-objects.js";
import { copySettings } from "./copied-settings.js";
import { lacksRefs } from "./lacking-refs.js";
import { bringBranchesBack, bringLandedBack, isDamage, mendMirror, tellMended } from "./mended-mirror.js";
import { bringParkedBack } from "./mended-refs.js";
import { isMirrorWhole, setMisplacedAside } from "./mirror-health.js";
import { fetchFromUser, type Mirror } from "./mirror-refs.js";

export { tipOf } from "../landing/tip.js";
export type { Mirror } from "./mirror-refs.js";

const userRefs = [
  "+refs/heads/*:refs/user/heads/*",
  "+refs/tags/*:refs/user/tags/*",
  "+refs/remotes/*:refs/user/remotes/*",
];
interface OpenMirror {
  readonly repoPath: string;
  readonly mirrorPath: string;
  /** Hears what had to be done to it, in one line. */
  readonly tell?: (text: string) => void;
}

/** Safe to call at the same time from several processes: a mirror is made aside and put in place whole, or not at all. */
export async function openMirror({ repoPath, mirrorPath, tell }: OpenMirror): Promise<Mirror> {
  const mirror = { path: resolve(mirrorPath), repoPath: resolve(repoPath) };
  if (tell) tellOfLocks(tell);
  if (!statsOf(mirror.path)?.isDirectory()) await makeMirror(mirror);
  await Promise.all([refreshOrMend(mirror, tell), sweep(mirror)]);
  // That it cannot be done is no reason to fail: whoever finds no folder makes it.
  if (startsManyCommands()) void makeObjectFolders(mirror).catch(() => undefined);
  return mirror;
}

/** That it is damaged is noticed by what has to be asked of it anyway. */
async function refreshOrMend(mirror: Mirror, tell: OpenMirror["tell"]): Promise<void> {
  if (await isRefreshed(mirror)) return;
  await withLock(join(dirname(mirror.path), `.${basename(mirror.path)}.mend`), async () => {
    // Somebody else may have mended it meanwhile.
    if (await isRefreshed(mirror)) return;
    setMisplacedAside(mirror.path);
    await writeSettings(mirror);
    const mended = await mendMirror(mirror);
    await refreshMirror(mirror);
    await bringBranchesBack(mirror);
    if (mended.lacksRefs) await bringParkedBack(mirror);
    await unmarkParked(mirror);
    tell?.(await tellMended(mirror, mended));
  });
}

async function isRefreshed(mirror: Mirror): Promise<boolean> {
  if (!isMirrorWhole(mirror.path)) return false;
  try {
    await refreshMirror(mirror);
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
  return !(await lacksRefs(mirror));
}

/** Where new objects go: a new folder takes long on many a disk, and here nobody waits for it. */
async function makeObjectFolders({ path }: Mirror): Promise<void> {
  const all = Array.from({ length: 256 }, (_, number) => number.toString(16).padStart(2, "0"));
  const cwd = join(path, "objects");
  const there = new Set(namesIn(cwd));
  const missing = all.filter((name) => !there.has(name));
  if (missing.length > 0) await runTool("mkdir", ["-p", "--", ...missing], { cwd });
}

/** What a crash left of checkouts that were being removed, or made by somebody who is no more. */
async function sweep(mirror: Mirror): Promise<void> {
  const left = [
    ...["checkouts", "pool", "ratchet/skeletons"].flatMap((name) => leftIn(join(mirror.path, name), "")),
    // A mirror that was being made.
    ...leftIn(dirname(mirror.path), `.${basename(mirror.path)}`),
  ];
  if (left.length > 0) await removeTree(...left);
}

function leftIn(folder: string, prefix: string): string[] {
  const isLeft = (name: string) =>
    name.startsWith(prefix) && (name.startsWith(".gone-", prefix.length) || isAbandoned(name.slice(prefix.length)));
  return namesIn(folder)
    .filter(isLeft)
    .map((name) => join(folder, name));
}

/** `.new-<pid>-…`; a number that was given out again only keeps it for longer. */
function isAbandoned(name: string): boolean {
  const pid = /^\.new-(\d+)-/.exec(name)?.[1];
  return pid !== undefined && isGone(Number(pid));
}

async function makeMirror(mirror: Mirror): Promise<void> {
  await withObjectsOf(mirror, async (aside, mark) => {
    const made = { ...mirror, path: aside };
    await mkdir(join(aside, "ratchet"), { recursive: true });
    await mkdir(join(aside, "checkouts"), { recursive: true });
    await refreshMirror(made);
    await bringLandedBack(made);
    await writeFile(join(aside, "ratchet", "made"), "");
    await putInPlace(aside, mirror.path, mark);
  });
}

/** The winner of a race stays; what else is in its place is put aside, not thrown away. */
async function putInPlace(aside: string, path: string, mark: string): Promise<void> {
  try {
    return await rename(aside, path);
  } catch (error) {
    const code = codeOf(error);
    if (code !== "ENOTEMPTY" && code !== "EEXIST" && code !== "ENOTDIR") throw error;
  }
  if (isMirrorWhole(path)) return;
  await rename(path, `${path}.broken-${mark}`);
  await rename(aside, path);
}

async function writeSettings(mirror: Mirror) {
  const [entries, commonDir] = await Promise.all([readConfig(mirror.repoPath), commonDirOf(mirror.repoPath)]);
  const settings = copySettings({ entries, root: mirror.repoPath, commonDir });
  await Promise.all([
    writeIfChanged(join(mirror.path, "config"), settings.mirror),
    rm(join(mirror.path, "hooks"), { recursive: true, force: true }),
  ]);
  return { entries, commonDir, settings };
}

/** Settings first (a partial clone's fetch needs them), then the user's refs, then what checkouts start with. */
async function refreshMirror(mirror: Mirror): Promise<void> {
  const { entries, commonDir, settings } = await writeSettings(mirror);
  await fetchFromUser(mirror, userRefs, ["--prune"]);
  const template: CheckoutTemplate = {
    config: settings.checkout,
    exclude: withoutComments(readOr(join(commonDir, "info", "exclude"))),
    attributes: readOr(join(commonDir, "info", "attributes")),
    packedRefs: await refsForCheckouts(mirror),
    conversion: await readConversion(entries),
  };
  await writeTemplate(mirror, template);
}

/** What git wrote there itself says nothing, and then no checkout needs the file. */
function withoutComments(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.map((line) => `${line}\n`).join("");
}

async function refsForCheckouts(mirror: Mirror): Promise<string> {
  const format = "--format=%(objectname) %(refname)";
  const all = await gitText(mirror.path, [
    "for-each-ref",
    format,
    "refs/user/heads",
    "refs/user/tags",
    "refs/user/remotes",
  ]);
  const lines = all.split("\n").filter((line) => line !== "" && !/ refs\/user\/heads\/ratchet(\/|$)/.test(line));
  return lines.map((line) => `${line.replace(" refs/user/", " refs/")}\n`).join("");
}
