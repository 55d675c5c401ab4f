import { join } from "node:path";
import type { Forge } from "../../src/core/ports/forge.js";
import { githubForge } from "../../src/forge/github/adapter.js";
import { memoryForge } from "../../src/forge/memory/adapter.js";
import { openEtags } from "../../src/lib/github-client/etags.js";
import { placeOf } from "../../src/lib/github-client/remote.js";
import type { Wait } from "../../src/lib/github-client/sender.js";
import { canMerge, git, headOf, merge } from "../forge-server/git.js";
import { type ForgeServer, startForge } from "../forge-server/server.js";
import { type ForgeRepository, forgeRepository } from "./forge-repository.js";
import type { ForgeWorld } from "./forge-suite.js";

const repo = "acme/shop";

export interface GithubWorld extends ForgeWorld {
  readonly server: ForgeServer;
  readonly repository: ForgeRepository;
  /** What the client waited for. */
  readonly waits: Wait[];
}

/** Ratchet's client, logged in as `ratchet-bot`, and the forge of the tests. */
export async function githubWorld(options: { readonly timeoutMs?: number } = {}): Promise<GithubWorld> {
  const repository = await forgeRepository();
  const server = await startForge({ repo, gitDir: repository.gitDir });
  const bot = server.person("ratchet-bot");
  const waits: Wait[] = [];
  const folder = join(repository.root, "etags");
  const place = placeOf({ repo, api_url: server.url }, null);
  const where = { place, token: bot.token, userAgent: "ratchet-test" };
  const told = { onWait: (wait: Wait) => void waits.push(wait), backoffMs: [10, 20], ...options };
  // Another process reads what is remembered from the disk.
  const again = (): Forge => githubForge({ ...where, ...told }, openEtags(folder));
  return {
    ...{ server, repository, waits, again, forge: again(), push: repository.push },
    ...peopleOf(server),
    show: (branch, file) => git(repository.gitDir, "show", `${branch}:${file}`),
    protect: async (branch, rules) => void server.state.repo.protection.set(branch, rules),
    passTime: () => server.state.passTime(20 * 60_000),
    done: async () => {
      await server.close();
      repository.done();
    },
  };
}

type People = Pick<ForgeWorld, "review" | "inline" | "comment" | "check" | "close">;

function peopleOf(server: ForgeServer): People {
  const events = { approved: "APPROVE", changes_requested: "REQUEST_CHANGES" } as const;
  return {
    review: (number, { by, body, state }) => {
      const event = state === "approved" || state === "changes_requested" ? events[state] : "COMMENT";
      return server.person(by).send("POST", `/pulls/${number}/reviews`, { body, event });
    },
    inline: async (number, { by, body, line, thread }) => {
      const place = thread === undefined ? { path: "a.txt", line, side: "RIGHT" } : { in_reply_to: Number(thread) };
      return String((await server.person(by).send("POST", `/pulls/${number}/comments`, { body, ...place })).id);
    },
    comment: (number, { by, body }) => server.person(by).send("POST", `/issues/${number}/comments`, { body }),
    check: async ({ name, commit, status, summary, log }) => {
      const ci = server.person("github-actions[bot]");
      const conclusion = status === "pending" ? {} : { conclusion: status };
      const run = { name, head_sha: commit, status: "in_progress", ...conclusion, output: { title: null, summary } };
      const { id } = await ci.send("POST", "/check-runs", run);
      if (log !== undefined) server.state.repo.logs.set(Number(id), log);
    },
    close: (number) => server.person("jo").send("PATCH", `/pulls/${number}`, { state: "closed" }),
  };
}

export async function memoryWorld(): Promise<ForgeWorld> {
  const repository = await forgeRepository();
  const { gitDir } = repository;
  const again = () =>
    memoryForge({
      ...{ file: join(repository.root, "forge.json"), repo, login: "ratchet-bot" },
      repository: {
        head: async (branch) => headOf(gitDir, branch),
        canMerge: (base, head) => canMerge(gitDir, base, head),
        merge: (wanted) => merge(gitDir, wanted),
      },
    });
  const forge = again();
  const author = (login: string) => ({ login, association: "MEMBER", bot: false });
  return {
    ...{ forge, again, push: repository.push },
    show: (branch, file) => git(gitDir, "show", `${branch}:${file}`),
    review: (number, { by, ...said }) => forge.people.review(number, { ...said, author: author(by) }),
    inline: (number, { by, ...said }) => forge.people.inline(number, { ...said, path: "a.txt", author: author(by) }),
    comment: (number, { by, body }) => forge.people.comment(number, { body, author: author(by) }),
    check: forge.people.check,
    protect: forge.people.protect,
    close: forge.people.close,
    passTime: () => undefined,
    done: async () => repository.done(),
  };
}
