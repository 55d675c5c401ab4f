import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Forge } from "../core/ports/forge.js";
import type { Settings } from "../core/settings.js";
import type { ForgeStatus } from "../forge/github/status.js";
import { UserError } from "../lib/errors.js";
import type { Wait } from "../lib/github-client/sender.js";
import { type Home, safeName } from "../lib/home.js";
import { version } from "../version.js";

export type { ForgeStatus } from "../forge/github/status.js";

interface Place {
  readonly settings: Settings;
  readonly repoPath: string;
  readonly projectId: string;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
}

/** Everything about the forge is loaded where a pull request is wanted, and nowhere else. */
export function needsForge({ finalize }: Settings): boolean {
  return finalize.mode === "pr";
}

/** Waiting for a rate limit is told, once per wait. */
export type Told = (text: string) => void;

const forges: Record<Settings["forge"]["type"], (place: Place, told: Told) => Promise<Forge>> = {
  github: loadGithub,
  memory: loadMemory,
};

export async function loadForge(place: Place, told: Told): Promise<Forge> {
  return await forges[place.settings.forge.type](place, told);
}

async function loadMemory({ settings, repoPath, projectId, home }: Place): Promise<Forge> {
  const origin = await originOf(repoPath);
  const path = origin === null ? null : resolve(repoPath, origin);
  if (path === null || !existsSync(path)) {
    throw new UserError("forge.type memory needs an origin on this machine", {
      hint: "git clone --bare . ../origin.git && git remote add origin ../origin.git",
      code: "forge-unknown",
    });
  }
  const { memoryForge } = await import("../forge/memory/adapter.js");
  const { openLocalRemote } = await import("../git/local-remote.js");
  const file = join(home.root, "forge", `${safeName(projectId)}.json`);
  const repo = settings.forge.repo ?? `local/${projectId}`;
  return memoryForge({ file, repo, login: "ratchet", repository: openLocalRemote(path) });
}

async function loadGithub({ settings, repoPath, projectId, home, env }: Place, told: Told): Promise<Forge> {
  const { githubForge } = await import("../forge/github/adapter.js");
  const { openEtags } = await import("../lib/github-client/etags.js");
  const { hostOf, placeOf } = await import("../lib/github-client/remote.js");
  const { needToken } = await import("../lib/github-client/token.js");
  const origin = await originOf(repoPath);
  if (origin === null) {
    const isAsked = settings.finalize.mode === "pr";
    const hint = `git remote add origin <url>${isAsked ? ", or set finalize.mode to merge or branch" : ""}`;
    throw new UserError("pull requests need a remote named origin to push to", { code: "no-remote", hint });
  }
  const place = placeOf(settings.forge, origin);
  const { value: token } = await needToken(env, hostOf(place));
  const etags = openEtags(join(home.root, "forge", safeName(projectId)), told);
  const onWait = ({ reason, until, call }: Wait) =>
    told(`the forge makes us wait until ${new Date(until).toISOString()} (${reason}, ${call})`);
  return githubForge({ place, token, userAgent: `ratchet/${version}`, onWait }, etags);
}

/** What `doctor` tells of it. */
export async function forgeStatusOf({
  settings,
  repoPath,
  env,
}: Pick<Place, "settings" | "repoPath" | "env">): Promise<ForgeStatus> {
  const { forgeStatus } = await import("../forge/github/status.js");
  const originUrl = await originOf(repoPath);
  return await forgeStatus({ forge: settings.forge, originUrl, env, userAgent: `ratchet/${version}` });
}

export async function originOf(repoPath: string): Promise<string | null> {
  const { git } = await import("../git/git.js");
  const { code, stdout } = await git(repoPath, ["config", "--get", "remote.origin.url"], { okCodes: [1] });
  return code === 0 ? stdout.toString("utf8").trim() : null;
}
