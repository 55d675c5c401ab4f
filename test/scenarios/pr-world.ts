import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { WorkPayload } from "../../src/core/board/payload.js";
import { type ForgeServer, type Speaker, startForge } from "../forge-server/server.js";
import { type Sandbox, sandbox } from "./sandbox.js";

export interface Item {
  readonly id: string;
  readonly status: string;
  readonly source: string;
  readonly priority: number;
  readonly failure_count: number;
  readonly payload: WorkPayload | null;
}
export interface BoardEvent {
  readonly type: string;
  readonly item_id: string;
  readonly [key: string]: unknown;
}

export interface PrWorld extends Sandbox {
  readonly server: ForgeServer;
  readonly jo: Speaker;
  readonly remoteGit: (...args: string[]) => string;
  readonly items: () => Promise<readonly Item[]>;
  readonly item: (id: string) => Promise<Item>;
  readonly events: () => Promise<readonly BoardEvent[]>;
  readonly sync: () => Promise<void>;
  /** Changes requested by a trusted person, with inline comments. */
  readonly reject: (
    number: number,
    body: string,
    comments?: readonly { line: number; body: string }[],
  ) => Promise<void>;
  readonly comments: (number: number) => Promise<readonly { readonly body: string; readonly user: string }[]>;
  readonly threads: (
    number: number,
  ) => Promise<readonly { readonly body: string; readonly line: unknown; readonly in_reply_to_id?: number }[]>;
  /** Somebody else commits to a branch at the forge. */
  readonly push: (branch: string, files: Readonly<Record<string, string>>) => string;
  /** CI tells how a check of the pull request's newest commit ended. */
  readonly check: (number: number, name: string, conclusion: string, log?: string) => Promise<void>;
}

/** An agent that writes the file, and for a rework appends what it was asked for. */
export const agentScript = `
printf '%s %s %s\\n' "$RATCHET_ROLE" "$RATCHET_PROMPT_KIND" "$RATCHET_ISSUE_ID" >> "$HOME/turns"
cat > "$HOME/prompt-$RATCHET_ISSUE_ID-$RATCHET_PROMPT_KIND"
case "$RATCHET_PROMPT_KIND" in
  implementer) printf 'one\\ntwo\\nthree\\n' > work.txt; git add -A; git commit -qm "Do $RATCHET_ISSUE_ID" || true ;;
  *) if [ -f "$HOME/idle" ]; then exit 0; fi
     if [ -f "$HOME/broken" ]; then exit 1; fi
     echo "again $RATCHET_ISSUE_ID" >> work.txt ;;
esac
`;

export async function prWorld(config: Readonly<Record<string, unknown>> = {}): Promise<PrWorld> {
  const box = sandbox();
  const gitDir = join(box.root, "forge.git");
  const run = (cwd: string, ...args: string[]) =>
    execFileSync("git", args, { cwd, env: box.env, encoding: "utf8" }).trimEnd();
  run(box.root, "clone", "--quiet", "--bare", box.dir, gitDir);
  box.git("remote", "add", "origin", gitDir);
  const server = await startForge({ repo: "acme/shop", gitDir });
  onTestFinished(() => server.close());
  const bot = server.person("ratchet-bot", "NONE");
  box.env.GITHUB_TOKEN = bot.token;
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agentScript) },
    finalize: { mode: "pr" },
    forge: { repo: "acme/shop", api_url: server.url },
    ...config,
  });
  const jo = server.person("jo");
  const items = async (): Promise<readonly Item[]> => JSON.parse(await box.quick("work", "list", "--all", "--json"));
  return {
    ...box,
    server,
    jo,
    remoteGit: (...args) => run(gitDir, ...args),
    items,
    item: async (id) => {
      const found = (await items()).find((one) => one.id === id);
      if (!found) throw new Error(`${id} is not on the board`);
      return found;
    },
    events: async () =>
      (await box.quick("observe", "--json", "--since", "1h"))
        .split("\n")
        .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as BoardEvent])),
    sync: async () => void (await box.quick("pr", "sync", "--json")),
    reject: async (number, body, comments = []) => {
      const placed = comments.map((one) => ({ path: "work.txt", side: "RIGHT", ...one }));
      await jo.send("POST", `/pulls/${number}/reviews`, { event: "REQUEST_CHANGES", body, comments: placed });
    },
    comments: async (number) =>
      asList(await jo.send("GET", `/issues/${number}/comments?per_page=100`)).map((one) => ({
        body: String(one.body),
        user: String((one.user as { readonly login?: string } | null)?.login),
      })),
    threads: async (number) =>
      asList(await jo.send("GET", `/pulls/${number}/comments?per_page=100`)).map((one) => ({
        body: String(one.body),
        line: one.line,
        ...(typeof one.in_reply_to_id === "number" ? { in_reply_to_id: one.in_reply_to_id } : {}),
      })),
    push: (branch, files) => {
      const clone = join(box.root, "somebody");
      rmSync(clone, { recursive: true, force: true });
      run(box.root, "clone", "--quiet", "--branch", branch, gitDir, clone);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(clone, name), text);
      run(clone, "add", "--all");
      run(clone, "-c", "user.name=mo", "-c", "user.email=mo@localhost", "commit", "--quiet", "--message", "By hand");
      run(clone, "push", "--quiet", "origin", branch);
      return run(clone, "rev-parse", "HEAD");
    },
    check: async (number, name, conclusion, log) => {
      const { head } = await jo.send("GET", `/pulls/${number}`);
      const { sha } = head as { readonly sha: string };
      const ci = server.person("github-actions[bot]");
      const { id } = await ci.send("POST", "/check-runs", { name, head_sha: sha, conclusion, output: { summary: "" } });
      if (log !== undefined) server.state.repo.logs.set(Number(id), log);
    },
  };
}

function asList(value: unknown): readonly Record<string, unknown>[] {
  if (!Array.isArray(value)) throw new Error("no list");
  return value;
}

/** With one issue, whose work waits in pull request #1. */
export async function opened(config: Readonly<Record<string, unknown>> = {}): Promise<PrWorld> {
  const world = await prWorld(config);
  await world.add("shop-1", { title: "Write it" });
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  return world;
}

export const rework = (cycle: number) => `rework-shop-pr-1-cycle-${cycle}`;

/** What the agent of that rework was told first. */
export const promptOf = (world: PrWorld, cycle: number) =>
  readFileSync(join(world.root, `prompt-${rework(cycle)}-rework`), "utf8");
