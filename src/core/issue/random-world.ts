import fc from "fast-check";
import type { Ledger } from "../finding.js";
import { openFindings } from "../ledger/ledger.js";
import type { IssueStart } from "../run/effects.js";
import type { CommandEffect, IssueEffect, LandEffect, TurnEffect } from "./effects.js";
import type { IssueEvent, IssueSignal, LandOutcome, MarkerName, PushOutcome, Stamped, TurnOutcome } from "./events.js";
import { commandEnded, policyOf, remark, type Setup, snapshot, turnEnded, World } from "./fixture.js";
import { type IssueLife, issueMachine } from "./machine.js";

/** Numbers that look random and are the same for the same seed. */
export function numbersOf(seed: number, length: number): number[] {
  let state = seed >>> 0;
  return Array.from({ length }, () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return Math.floor(((state ^ (state >>> 12)) >>> 0) / 7) % 10_000;
  });
}

interface Begin {
  readonly start: IssueStart;
  readonly ledger: Ledger;
}

/** `most`: after as many choices everything goes well. */
export function worldsOf(setups: fc.Arbitrary<Setup>, begin: (setup: Setup) => Begin, most: number) {
  return fc
    .tuple(setups, fc.integer(), fc.nat(most), fc.constantFrom(0, 20, 100))
    .map(([setup, seed, length, trouble]) => {
      return new RandomWorld(setup, begin(setup), { choices: numbersOf(seed, length), trouble });
    });
}

const mostBytes = 8192;

/** A world that answers as a list of numbers says, in any order and with any type-correct result; then benignly, so that every life can end. */
export class RandomWorld extends World {
  private readonly choices: number[];
  private readonly trouble: number;
  private made = 10;
  private readonly counts = new Map<number, number>();
  /** As it was before anything happened. */
  readonly first: string;

  /** `trouble`: how often machinery fails, in percent of the usual; checks fail as often as they do. */
  constructor(setup: Setup, begin: Begin, luck: { choices: number[]; trouble: number }) {
    super(policyOf(setup), begin.start, begin.ledger);
    this.first = JSON.stringify(this.life);
    this.choices = [...luck.choices];
    this.trouble = luck.trouble;
  }

  /** The commit's tree: commits and trees are numbered alike, mechanical merges have their own. */
  static treeOf(commit: string): string {
    return commit.replace(/^c/, "t").replace(/^m/, "mt");
  }

  /** One arrival; false when the life is over. */
  step(): boolean {
    const open = [...this.owed.values()].filter((effect) => effect.kind !== "wait");
    if (this.owed.size === 0) return false;
    if (this.chance(1)) this.ending = this.chance(40) ? "abort" : this.chance(30) ? "stop" : "drain";
    if (this.chance(2)) this.lateMs = 5000;
    const outside = this.outside();
    if (outside === "resumed") this.arrive({ type: "resumed" });
    else if (outside) this.signal(outside);
    else {
      const busy = open.filter((effect) => effect.kind !== "timer");
      const among = busy.length === 0 || this.chance(3) ? open : busy;
      const effect = among[this.choose() % among.length];
      if (!effect) throw new Error("only a signal is owed: the life is stuck");
      if (effect.kind === "timer") this.at = Math.max(this.at, effect.until);
      this.arrive(this.result(effect));
    }
    return true;
  }

  /** The whole life; `look` sees every arrival, and what was before it. */
  live(look: (before: IssueLife, event: Stamped<IssueEvent>) => void = () => undefined): IssueLife {
    this.arrive({ type: "started" });
    for (let steps = 0; ; steps += 1) {
      if (steps > 3000) throw new Error("the life does not end");
      const before = this.life;
      if (!this.step()) return this.life;
      const event = this.events.at(-1);
      if (event) look(before, event);
    }
  }

  /** What its events make of it once more, as a restart would: each time through JSON, and small enough for a row. */
  folded(): IssueLife {
    const transition = issueMachine(this.policy);
    return this.events.reduce((life, event) => {
      const { state } = transition(life, event);
      if (JSON.stringify(state.state).length > mostBytes) throw new Error("the state is too large");
      return JSON.parse(JSON.stringify(state)) as IssueLife;
    }, JSON.parse(this.first) as IssueLife);
  }

  private choose(): number {
    return this.choices.shift() ?? 0;
  }
  private chance(percent: number): boolean {
    return this.likely((percent * this.trouble) / 100);
  }
  private likely(percent: number): boolean {
    return this.choices.length > 0 && this.choose() % 100 >= 100 - percent;
  }

  private outside(): IssueSignal | "resumed" | null {
    if (!this.chance(8)) return null;
    const finding = this.life.ledger.findings[this.choose() % Math.max(1, this.life.ledger.findings.length)];
    const waive: IssueSignal = { name: "waive", finding: finding?.id ?? "none", reason: "a person says so" };
    const budget: IssueSignal = { name: "budget", reason: "5 of 5 USD" };
    const command = [...this.owed.values()].find((effect) => effect.kind === "command");
    const place: IssueSignal = { name: "place", key: command?.key ?? "none", has: this.choose() % 2 === 0 };
    const told = [{ name: "drain" }, { name: "abort" }, { name: "stop" }, waive, budget, place] as const;
    const all = ["resumed", ...told, "resumed"] as const;
    return all[this.choose() % all.length] ?? "resumed";
  }

  private result(effect: IssueEffect): IssueEvent {
    const { key } = effect;
    if (this.chance(3)) return { type: "crashed", key, effect: effect.kind, message: "broke" };
    switch (effect.kind) {
      case "turn":
        return effect.role === "reviewer" ? { ...this.reviewed(effect), ...this.remade() } : this.worked(effect);
      case "command":
        return this.ran(effect);
      case "stop":
        return { type: "stop-done", key };
      case "timer":
        return { type: "timer-fired", key };
      case "tracker":
        if ((effect.op === "fail" || effect.op === "escalate") && this.chance(5))
          return { type: "tracker-done", key, ok: false, reason: "it is completed", lost: true, taken: "completed" };
        return this.chance(5)
          ? { type: "tracker-done", key, ok: false, reason: "down", lost: this.chance(50) }
          : { type: "tracker-done", key, ok: true, id: "p-9" };
      case "worktree":
        if (this.chance(3)) return { type: "worktree-failed", key, reason: "locked" };
        if (effect.op === "remove") return { type: "worktree-removed", key };
        if (effect.op === "look") return { type: "worktree-seen", key, snapshot: this.look() };
        if (effect.op === "commit-all")
          return { type: "worktree-committed", key, snapshot: this.look(), ...this.remade() };
        return {
          type: "worktree-ready",
          key,
          path: "/w",
          branch: "ratchet/p-1",
          baseSha: "c0",
          head: "c0",
          tree: "t0",
          fresh: true,
          targetTip: "c0",
          ...(this.policy.trigger ? { reviewBase: "earlier" } : {}),
        };
      case "land":
        return { type: "land-ended", key, outcome: this.landed(effect) };
      case "push":
        return { type: "push-ended", key, outcome: this.pushed() };
      case "pull-request":
        if (this.chance(5)) return { type: "pull-request-ended", key, outcome: { type: "refused", reason: "no" } };
        return { type: "pull-request-ended", key, outcome: { type: "opened", number: 7, url: "u" } };
      case "dossier":
        return { type: "dossier-written", key, path: this.chance(10) ? null : "/d/dossier.md" };
      case "wait":
        throw new Error("a signal is not performed");
    }
  }

  /** Somebody may have deleted it. */
  private remade(): { readonly remade?: true } {
    return this.policy.settings.commands.setup && this.likely(15) ? { remade: true } : {};
  }

  private pushed(): PushOutcome {
    if (this.chance(5)) return { type: "refused", reason: "protected" };
    if (this.chance(5)) return { type: "unreachable", reason: "down" };
    if (this.policy.item && this.chance(5)) return { type: "closed", reason: "pull request #7 was merged" };
    return this.chance(10) ? { type: "moved", tip: "theirs" } : { type: "pushed" };
  }

  private look() {
    const again = this.likely(10);
    if (!again) this.made += 1;
    const n = again ? this.made - (this.choose() % 3) : this.made;
    const dirtyCount = this.chance(10) ? 2 : 0;
    const dirty = dirtyCount > 0 ? { dirtyCount, dirty: ["x", "y"], filesTree: `f${n}-${this.choose() % 3}` } : {};
    return snapshot(n, {
      commits: this.commitsAt(n),
      docsOnly: this.likely(40),
      containsBase: !this.likely(8),
      namedCommitInTarget: this.likely(60),
      ...(this.likely(50) ? { targetBase: `tip${this.choose() % 3}` } : {}),
      ...(this.likely(10) ? { unpushed: ["lib at c"] } : {}),
      ...dirty,
    });
  }

  /** Whoever comes back to a commit finds as many behind it as before. */
  private commitsAt(n: number): number {
    const count = this.counts.get(n) ?? (this.likely(6) ? 0 : 1 + (n % 5));
    this.counts.set(n, count);
    return count;
  }

  private worked({ key, session }: TurnEffect): IssueEvent {
    const bad: TurnOutcome[] = [
      { type: "failed", reason: "no" },
      { type: "timed-out" },
      { type: "idle" },
      { type: "lost" },
      { type: "transient", reason: "busy" },
      { type: "limited", until: this.at + 5000, reason: "limit" },
      { type: "limited", until: null, reason: "limit" },
      { type: "no-session" },
      { type: "stopped" },
    ];
    const outcome: TurnOutcome = this.chance(25)
      ? (bad[this.choose() % bad.length] ?? { type: "ended" })
      : { type: "ended" };
    const names: MarkerName[] = ["NO_CHANGE", "OBSOLETE", "ALREADY_COMPLETE", "DOCS_ONLY"];
    const name = names[this.choose() % names.length] ?? "NO_CHANGE";
    const marker = this.likely(6) ? { name, rationale: "because" } : null;
    const rejected = this.life.ledger.findings
      .filter(() => this.chance(20))
      .map(({ id }) => ({ id, reason: "not so" }));
    return turnEnded({
      key,
      outcome,
      marker,
      ...(rejected.length > 0 ? { rejected } : {}),
      sessionId: this.chance(10) ? null : (session ?? `s${this.choose() % 5}`),
      snapshot: this.chance(2) ? null : this.look(),
      usage: { input_tokens: 10, output_tokens: 5, cost_usd: 0.01 },
      until: this.at + 1000,
    });
  }

  private reviewed({ key }: TurnEffect): IssueEvent {
    if (this.chance(20)) {
      const bad: TurnOutcome[] = [
        { type: "failed", reason: "no" },
        { type: "lost" },
        { type: "stopped" },
        { type: "transient", reason: "busy" },
        { type: "limited", until: null, reason: "limit" },
        { type: "no-session" },
      ];
      return turnEnded({ key, outcome: bad[this.choose() % bad.length] ?? { type: "lost" } });
    }
    if (this.chance(8)) return turnEnded({ key, disturbed: ["README.md"] });
    if (this.chance(15))
      return turnEnded({ key, review: this.chance(50) ? null : { type: "protocol", reason: "mute" } });
    const findings = Array.from({ length: this.choose() % 3 }, () => {
      const title = ["Null deref", "Race here", "Leak", "Odd name"][this.choose() % 4] ?? "Leak";
      return remark(title, [0, 1, 2, 3, null][this.choose() % 5] ?? null);
    });
    return turnEnded({ key, review: { type: "verdict", verdict: this.likely(50) ? "fail" : "pass", findings } });
  }

  private ran(effect: CommandEffect): IssueEvent {
    if (this.chance(5)) return commandEnded(effect, { exitCode: null, stopped: true });
    if (this.chance(5)) return commandEnded(effect, { exitCode: null, timedOut: true });
    const digest = `broken ${this.choose() % 4}`;
    const remade = effect.stage === "setup" || effect.place === "landing" ? {} : this.remade();
    return commandEnded(effect, { ...remade, ...(this.likely(10) ? { exitCode: 1, digest, tails: "out" } : {}) });
  }

  private landed(effect: LandEffect): LandOutcome {
    if (this.chance(5)) return { type: "refused", reason: "protected" };
    if (effect.op === "branch") return { type: "landed", commit: effect.head, behind: null };
    if (this.chance(15)) return { type: "moved" };
    if (effect.op === "commit") return { type: "landed", commit: effect.commit, behind: null };
    if (this.chance(10)) return { type: "waits", reason: "main was rewound" };
    const tip = `tip${this.choose() % 5}`;
    if (this.likely(35)) return { type: "conflict", tip, files: ["a.ts"] };
    if (this.chance(5)) return { type: "closed" };
    const merged = this.likely(40);
    const commit = merged ? `m-${effect.head}-${tip}` : effect.head;
    const proposed = { tip, commit, tree: RandomWorld.treeOf(commit), merged };
    const landsNow = effect.gated === null || effect.gated?.includes(proposed.tree);
    return landsNow ? { type: "landed", commit, behind: null, proposed } : { type: "proposed", ...proposed };
  }
}

/** Trees on which every required command has passed, as the world itself saw it. */
export function gatedTrees(world: RandomWorld): string[] {
  const passed = new Map<string, Set<string>>();
  for (const event of world.events) {
    if (event.type !== "command-ended" || event.exitCode !== 0 || event.stopped || event.timedOut) continue;
    const effect = world.history.find((one) => one.key === event.key);
    if (effect?.kind !== "command" || (effect.stage !== "gate" && effect.stage !== "landing")) continue;
    const tree = RandomWorld.treeOf(effect.commit ?? "");
    passed.set(tree, (passed.get(tree) ?? new Set()).add(effect.name));
  }
  const required = world.policy.settings.evidence_check.required;
  return [...passed].filter(([, names]) => required.every((name) => names.has(name))).map(([tree]) => tree);
}

/** Lives it; what began in a worktree in which setup had not passed since its files were made. */
export function begunTooEarly(world: RandomWorld): string[] {
  const early: string[] = [];
  let isReady = false;
  let told = 0;
  world.live((_, event) => {
    if (event.type === "worktree-ready") isReady = !event.fresh;
    if ("remade" in event && event.remade) isReady = false;
    if (event.type === "command-ended" && event.key.startsWith("setup")) isReady = event.exitCode === 0;
    const begun = world.history.slice(told);
    told = world.history.length;
    for (const effect of begun) {
      const isWork = effect.kind === "turn" || (effect.kind === "command" && effect.place === "issue");
      if (isWork && !isReady && !effect.key.startsWith("setup")) early.push(`${effect.key} after ${event.type}`);
    }
  });
  return early;
}

/** Fixers that were told to start and not to end, at the moments when none may be at work; and ends of none. */
export function openFixers({ reports }: RandomWorld): string[] {
  const wrong: string[] = [];
  let open = 0;
  for (const { type } of [...reports, { type: "the end" }]) {
    if (type === "fixer-started") open += 1;
    if (type === "fixer-ended") open -= 1;
    const none = type === "session-end-completed" || type === "issue-finished" || type === "the end";
    if (open < 0 || open > 1 || (none && open > 0)) wrong.push(`${open} at ${type}`);
  }
  return wrong;
}

/** Lives it; the checks that ended by themselves, failed, and raised nothing. What a trigger's timeout has dropped is none. */
export function unheardFailures(world: RandomWorld): string[] {
  const unheard: string[] = [];
  let told = 0;
  world.live((before, event) => {
    const reports = world.reports.slice(told);
    told = world.reports.length;
    if (event.type !== "command-ended" || event.stopped || (event.exitCode === 0 && !event.timedOut)) return;
    const effect = world.history.find((one) => one.key === event.key);
    if (effect?.kind !== "command" || effect.stage === "setup" || before.state.sessionEnd?.timedOut) return;
    if (!reports.some(({ type }) => type === "finding-raised")) unheard.push(`${event.key}, ${before.state.halt}`);
  });
  return unheard;
}

/** Lives it; what was open of a trigger's command when it ended by itself and passed, and was not closed by that. */
export function unheardPasses(world: RandomWorld): string[] {
  const unheard: string[] = [];
  let told = 0;
  world.live((before, event) => {
    const reports = world.reports.slice(told);
    told = world.reports.length;
    if (event.type !== "command-ended" || event.stopped || event.exitCode !== 0 || event.timedOut) return;
    const effect = world.history.find((one) => one.key === event.key);
    if (effect?.kind !== "command" || before.state.sessionEnd?.timedOut !== false) return;
    const closed = reports.flatMap((report) => (report.type === "finding-resolved" ? [report.finding] : []));
    const own = openFindings(before.ledger, { stages: [effect.stage], sources: ["command"] });
    for (const { id, reviewer } of own)
      if (reviewer === effect.name && !closed.includes(id)) unheard.push(`${event.key}, ${before.state.halt}`);
  });
  return unheard;
}
