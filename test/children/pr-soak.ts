import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type ForgeServer, type Speaker, startForge } from "../forge-server/server.js";

/**
 * Many rework cycles while requests fail, answers are lost and Ratchet is killed. What was said has to reach an agent
 * once and be answered once, and every pull request has to end where it should.
 */
export interface Soak {
  /** The built program. */
  readonly program: string;
  readonly pullRequests: number;
  readonly rounds: number;
  readonly seed: number;
  /** Runs in each round that are killed for certain, and how many of the others; 2 and half of them. */
  readonly kills?: { readonly first: number; readonly chance: number };
  readonly log?: (text: string) => void;
}
export interface Soaked {
  readonly cycles: number;
  readonly remarks: number;
  readonly kills: number;
  readonly faults: number;
  /** What is not as it should be, a sentence each. */
  readonly wrong: readonly string[];
}

const agent = `
cat > "$HOME/prompts/$RATCHET_ISSUE_ID.$$"
case "$RATCHET_PROMPT_KIND" in
  implementer) seq 20 > "$RATCHET_ISSUE_ID.txt"; git add -A; git commit -qm "Do $RATCHET_ISSUE_ID" ;;
  *) echo "$RATCHET_ISSUE_ID" >> "again-$RATCHET_ISSUE_ID.txt" ;;
esac
`;
const triesPerRound = 15;

export async function soak(wanted: Soak): Promise<Soaked> {
  const world = await openWorld(wanted);
  try {
    await world.run([]);
    for (let round = 1; round <= wanted.rounds; round++) {
      await world.speak(round);
      await world.workOff();
      wanted.log?.(`round ${round} of ${wanted.rounds}, ${world.kills} kills`);
    }
    return { ...(await world.counts()), wrong: await world.judge() };
  } finally {
    await world.close();
  }
}

async function openWorld({ program, pullRequests, seed, kills = { first: 2, chance: 0.5 } }: Soak) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "ratchet-soak-")));
  const [dir, gitDir] = [join(root, "shop"), join(root, "forge.git")];
  mkdirSync(dir);
  mkdirSync(join(root, "prompts"));
  const env: NodeJS.ProcessEnv = {
    ...{ PATH: process.env.PATH, HOME: root, LANG: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" },
    RATCHET_HOME: join(root, "home"),
  };
  const git = (cwd: string, ...args: string[]) => execFileSync("git", args, { cwd, env, encoding: "utf8" }).trimEnd();
  git(dir, "init", "--quiet", "--initial-branch=main");
  git(dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "start");
  git(root, "clone", "--quiet", "--bare", dir, gitDir);
  git(dir, "remote", "add", "origin", gitDir);
  const server = await startForge({ repo: "acme/shop", gitDir });
  env.GITHUB_TOKEN = server.person("ratchet-bot", "NONE").token;
  writeFileSync(join(root, "agent.sh"), agent);
  const settings = {
    agent: { type: "command", command: ["sh", join(root, "agent.sh")] },
    max_agents: 2,
    finalize: { mode: "pr" },
    forge: { repo: "acme/shop", api_url: server.url },
    pull_requests: { max_rework_cycles: 1000, merge: "squash", trusted: ["MEMBER"] },
  };
  writeFileSync(join(dir, "ratchet.yaml"), JSON.stringify(settings));
  writeFileSync(join(dir, ".git/info/exclude"), "/ratchet.yaml\n");
  const world = new SoakWorld({
    root,
    dir,
    env,
    program,
    server,
    random: randomFrom(seed),
    kills,
    count: pullRequests,
  });
  for (let number = 1; number <= pullRequests; number++)
    await world.ratchet("work", "add", "Do it", "--id", `i-${number}`);
  return world;
}

interface Around {
  readonly root: string;
  readonly dir: string;
  readonly env: NodeJS.ProcessEnv;
  readonly program: string;
  readonly server: ForgeServer;
  readonly random: () => number;
  readonly kills: NonNullable<Soak["kills"]>;
  readonly count: number;
}

class SoakWorld {
  kills = 0;
  #faults = 0;
  /** Its words, and where it was said. */
  readonly #said: { words: string; number: number; thread: string | null; trusted: boolean }[] = [];
  readonly #at: Around;
  readonly #jo: Speaker;
  readonly #eve: Speaker;
  readonly #running = new Set<ChildProcess>();

  constructor(at: Around) {
    this.#at = at;
    this.#jo = at.server.person("jo");
    this.#eve = at.server.person("eve", "NONE");
  }

  #start(args: readonly string[]) {
    const { program, dir, env } = this.#at;
    const child = spawn(process.execPath, [program, ...args], { cwd: dir, env, stdio: ["ignore", "pipe", "pipe"] });
    this.#running.add(child);
    let output = "";
    const add = (text: string) => {
      output += text;
    };
    child.stdout.setEncoding("utf8").on("data", add);
    child.stderr.setEncoding("utf8").on("data", add);
    const ended = once(child, "close").then(([code]) => {
      this.#running.delete(child);
      return { code: code as number | null, output };
    });
    return { child, ended };
  }

  async ratchet(...args: string[]): Promise<string> {
    const { code, output } = await this.#start(args).ended;
    if (code !== 0) throw new Error(`ratchet ${args.join(" ")}: ${code}\n${output}`);
    return output;
  }

  /** A run to its end, or killed in the middle of it. */
  run(args: readonly string[], killAfterMs: number | null = null): Promise<void> {
    return this.#killed(["run", ...args], killAfterMs);
  }
  async #killed(args: readonly string[], killAfterMs: number | null): Promise<void> {
    const { child, ended } = this.#start(args);
    if (killAfterMs !== null) {
      const killed = await Promise.race([ended.then(() => false), delay(killAfterMs, true)]);
      if (killed) {
        this.kills++;
        child.kill("SIGKILL");
      }
    }
    await ended;
  }

  async speak(round: number): Promise<void> {
    const { random } = this.#at;
    // Agents end in any order, so a pull request may have any issue's number.
    for (const { number, issue_id } of await this.#states()) {
      const words = (what: string) => `${what}-${number}-${round}-end`;
      const inline = random() < 0.7;
      const comments = inline
        ? [{ path: `${issue_id}.txt`, line: 1 + (round % 20), side: "RIGHT", body: words("inline") }]
        : [];
      await this.#jo.send("POST", `/pulls/${number}/reviews`, {
        event: "REQUEST_CHANGES",
        body: words("review"),
        comments,
      });
      this.#said.push({ words: words("review"), number, thread: null, trusted: true });
      if (inline) this.#said.push({ words: words("inline"), number, thread: words("inline"), trusted: true });
      if (random() < 0.5) await this.#comment(this.#jo, number, words("comment"));
      if (random() < 0.3) await this.#comment(this.#eve, number, words("stranger"));
    }
  }
  async #comment(who: Speaker, number: number, words: string): Promise<void> {
    await who.send("POST", `/issues/${number}/comments`, { body: words });
    this.#said.push({ words, number, thread: null, trusted: who === this.#jo });
  }

  /** Runs, killed now and then, until nothing is open any more; at last undisturbed. */
  async workOff(): Promise<void> {
    const { random, kills } = this.#at;
    for (let attempt = 0; attempt < triesPerRound && !(await this.#isQuiet()); attempt++) {
      const isCalm = attempt > triesPerRound / 2;
      const isKilled = attempt < kills.first || (!isCalm && random() < kills.chance);
      const killAfterMs = isKilled ? 300 + random() * 3000 : null;
      const isAway = !isCalm && random() < 0.2;
      const args = random() < 0.2 ? ["pr", "sync"] : ["run"];
      if (isAway) this.#plug("http://127.0.0.1:9/acme/shop.git");
      await this.#disturbed(!isCalm, () => this.#killed(args, killAfterMs));
      if (isAway) this.#plug(join(this.#at.root, "forge.git"));
    }
  }
  /** Where pushes go: what could not be pushed is pushed later, by no agent. */
  #plug(url: string): void {
    const { dir, env } = this.#at;
    execFileSync("git", ["remote", "set-url", "origin", url], { cwd: dir, env });
  }
  async #disturbed(really: boolean, task: () => Promise<void>): Promise<void> {
    const { faults, seen } = this.#at.server;
    const before = seen.length;
    if (really) {
      faults.add({ kind: "status", status: 502, chance: 0.05 });
      faults.add({ kind: "drop", chance: 0.02 });
      faults.add({ kind: "drop", after: true, chance: 0.02 });
    }
    await task();
    faults.clear();
    this.#faults += seen.slice(before).filter(({ status }) => status === 502 || status === 0).length;
  }

  async #states(): Promise<
    { number: number; issue_id: string; phase: string; open: string[]; cycle: number; escalated: boolean }[]
  > {
    return JSON.parse(await this.ratchet("pr", "list", "--json"));
  }
  async #isQuiet(): Promise<boolean> {
    const states = await this.#states();
    const posted = states.every(({ phase, open }) => phase === "in review" && open.length === 0);
    const cycles = new Map(states.map(({ number, cycle }) => [number, cycle]));
    return posted && states.length === this.#at.count && (await this.#answeredAll(cycles));
  }
  /** As the forge has it: what was said last may not have been looked at yet. */
  async #answeredAll(cycles: ReadonlyMap<number, number>): Promise<boolean> {
    const rounds = new Map<number, number>();
    for (const { words, number } of this.#said) {
      if (words.startsWith("review")) rounds.set(number, (rounds.get(number) ?? 0) + 1);
    }
    if ([...rounds].some(([number, count]) => (cycles.get(number) ?? 0) < count)) return false;
    for (const { number, thread } of this.#said) {
      if (thread !== null && (await this.#replies(number, thread)) === 0) return false;
    }
    return true;
  }

  async #list(path: string): Promise<readonly Record<string, unknown>[]> {
    const found: Record<string, unknown>[] = [];
    for (let page = 1; ; page++) {
      const list = await this.#jo.send("GET", `${path}?per_page=100&page=${page}`);
      if (!Array.isArray(list)) throw new Error("no list");
      found.push(...list);
      if (list.length < 100) return found;
    }
  }
  async #replies(number: number, words: string): Promise<number> {
    const list = await this.#list(`/pulls/${number}/comments`);
    const first = list.find(({ body }) => String(body).includes(words));
    return list.filter(({ in_reply_to_id }) => in_reply_to_id === first?.id && first !== undefined).length;
  }

  async counts() {
    const cycles = (await this.#states()).reduce((sum, { cycle }) => sum + cycle, 0);
    return { cycles, remarks: this.#said.length, kills: this.kills, faults: this.#faults };
  }

  async judge(): Promise<string[]> {
    const wrong = [...this.#delivered(), ...(await this.#answered())];
    for (let number = 1; number <= this.#at.count; number++) {
      const { head } = await this.#jo.send("GET", `/pulls/${number}`);
      const sha = (head as { sha: string }).sha;
      await this.#jo.send("POST", `/pulls/${number}/reviews`, { event: "APPROVE", body: "", commit_id: sha });
    }
    // Each merge moves the base, so that the forge has to work out anew what can be merged.
    for (let look = 0; look < 10 && (await this.#unmerged()).length > 0; look++)
      await this.ratchet("pr", "sync", "--json");
    wrong.push(...(await this.#unmerged()).map((number) => `#${number} is not merged`));
    const items: { id: string; status: string }[] = JSON.parse(await this.ratchet("work", "list", "--all", "--json"));
    for (const { id, status } of items) if (status !== "completed") wrong.push(`${id} is ${status}`);
    return wrong;
  }

  async #unmerged(): Promise<number[]> {
    const numbers = Array.from({ length: this.#at.count }, (_, index) => index + 1);
    const pulls = await Promise.all(numbers.map((number) => this.#jo.send("GET", `/pulls/${number}`)));
    return numbers.filter((_, index) => pulls[index]?.merged !== true);
  }

  /** By item: one whose turn was lost in a kill has its prompt again. */
  #delivered(): string[] {
    const folder = join(this.#at.root, "prompts");
    const prompts = readdirSync(folder).map((name) => ({
      item: name.replace(/\.\d+$/, ""),
      text: readFileSync(join(folder, name), "utf8"),
    }));
    return this.#said.flatMap(({ words, trusted }) => {
      const items = new Set(prompts.filter(({ text }) => text.includes(words)).map(({ item }) => item));
      const expected = trusted ? 1 : 0;
      return items.size === expected ? [] : [`${words} was delivered ${items.size} times: ${[...items].join(", ")}`];
    });
  }

  async #answered(): Promise<string[]> {
    const wrong: string[] = [];
    for (const { words, number, thread } of this.#said) {
      const replies = thread === null ? 1 : await this.#replies(number, thread);
      if (replies !== 1) wrong.push(`${words} was answered ${replies} times`);
    }
    for (const { number, cycle } of await this.#states()) {
      const told = (await this.#list(`/issues/${number}/comments`)).flatMap(
        ({ body }) => /^Rework cycle (\d+), addressed in/.exec(String(body))?.[1] ?? [],
      );
      const expected = Array.from({ length: cycle }, (_, index) => String(index + 1));
      if (told.join() !== expected.join()) wrong.push(`#${number}: cycles 1 to ${cycle}, answered ${told.join()}`);
    }
    return wrong;
  }

  async close(): Promise<void> {
    for (const child of this.#running) child.kill("SIGKILL");
    await this.#at.server.close();
    rmSync(this.#at.root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The same every time: mulberry32. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
