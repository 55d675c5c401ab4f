import { join } from "node:path";
import type { Forge } from "../core/ports/forge.js";
import type { Settings } from "../core/settings.js";
import type { Home } from "../lib/home.js";
import { safeName } from "../lib/home.js";
import { version } from "../version.js";

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

export async function loadForge({ settings, repoPath, projectId, home, env }: Place): Promise<Forge> {
  const { githubForge } = await import("../forge/github/adapter.js");
  const { openEtags } = await import("../lib/github-client/etags.js");
  const { hostOf, placeOf } = await import("../lib/github-client/remote.js");
  const { needToken } = await import("../lib/github-client/token.js");
  const place = placeOf(settings.forge, await originOf(repoPath));
  const { value: token } = await needToken(env, hostOf(place));
  const etags = openEtags(join(home.root, "forge", safeName(projectId)));
  return githubForge({ place, token, userAgent: `ratchet/${version}` }, etags);
}

/** What `doctor` tells of it. */
export async function forgeStatusOf({ settings, repoPath, env }: Pick<Place, "settings" | "repoPath" | "env">) {
  const { forgeStatus } = await import("../forge/github/status.js");
  const originUrl = await originOf(repoPath);
  return await forgeStatus({ forge: settings.forge, originUrl, env, userAgent: `ratchet/${version}` });
}

export async function originOf(repoPath: string): Promise<string | null> {
  const { git } = await import("../git/git.js");
  const { code, stdout } = await git(repoPath, ["config", "--get", "remote.origin.url"], { okCodes: [1] });
  return code === 0 ? stdout.toString("utf8").trim() : null;
}
