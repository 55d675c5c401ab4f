import { UserError } from "../errors.js";

/** Where a remote leads: its host, and owner/name on it; null where it is no address of that kind, such as a path. */
export function parseRemote(url: string): { readonly host: string; readonly repo: string } | null {
  const trimmed = url.trim();
  const scheme = /^(?:https?|ssh|git):\/\/(?:[^@/]*@)?([^/:]+)(?::\d+)?\/(.+)$/i.exec(trimmed);
  const short = /^(?:[^@/:]+@)?([^/:]+):(?!\/\/)(.+)$/.exec(trimmed);
  const [, host, path] = scheme ?? short ?? [];
  if (host === undefined || path === undefined) return null;
  const repo = path.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  return /^[\w.-]+\/[\w.-]+$/.test(repo) ? { host: host.toLowerCase(), repo } : null;
}

export interface Place {
  readonly owner: string;
  readonly name: string;
  readonly repo: string;
  readonly apiUrl: string;
}

const publicApi = "https://api.github.com";
/** The second is GitHub's own door for networks that close port 22. */
const publicHosts = ["github.com", "ssh.github.com", "www.github.com"];

/** Which repository, and at which address: as configured, else from the remote `origin`. */
export function placeOf(
  forge: { readonly repo: string | null; readonly api_url: string | null },
  originUrl: string | null,
): Place {
  const remote = originUrl === null ? null : parseRemote(originUrl);
  const repo = forge.repo ?? remote?.repo ?? null;
  if (repo === null) {
    throw new UserError("which repository on GitHub is not known: origin does not say", {
      hint: "set forge.repo: owner/name in ratchet.yaml",
      code: "forge-unknown",
    });
  }
  if (forge.repo === null && forge.api_url === null && remote !== null && !publicHosts.includes(remote.host)) {
    throw new UserError(`origin is at ${remote.host}, which is not github.com`, {
      hint: `for GitHub Enterprise set forge.api_url: https://${remote.host}/api/v3 in ratchet.yaml`,
      code: "forge-unknown",
    });
  }
  const [owner = "", name = ""] = repo.split("/");
  return { owner, name, repo, apiUrl: (forge.api_url ?? publicApi).replace(/\/+$/, "") };
}

export function isPublic({ apiUrl }: Place): boolean {
  return apiUrl === publicApi;
}

/** The host whose login `gh` is asked for. */
export function hostOf({ apiUrl }: Place): string {
  const { hostname } = new URL(apiUrl);
  return hostname === "api.github.com" ? "github.com" : hostname;
}
