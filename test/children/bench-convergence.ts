import type { Remark } from "../../src/core/finding.js";
import type { IssueEffect, TurnEffect } from "../../src/core/issue/effects.js";
import type { IssueEvent } from "../../src/core/issue/events.js";
import { commandEnded, panelOf, policyOf, snapshot, start, turnEnded } from "../../src/core/issue/fixture.js";
import { type IssueLife, issueMachine, newIssue } from "../../src/core/issue/machine.js";
import { emptyLedger } from "../../src/core/ledger/ledger.js";

/**
 * An issue whose first commit has defects, each seen by one reviewer, and an agent that fixes each defect it is told of
 * with probability p. Chance is drawn ahead: a defect says at which attempt it is fixed and what its fix breaks, so that
 * every strategy meets the same world and only the order of turns differs. Seconds are simulated.
 */
export interface Trial {
  readonly reviewers: number;
  readonly p: number;
  /** How likely the fix of a defect makes a new one, of whichever reviewer. */
  readonly breaks: number;
  readonly seed: number;
}

export interface Outcome {
  /** Turns of the agent that writes, the first one included. */
  readonly turns: number;
  readonly reviews: number;
  readonly seconds: number;
  /** Defects still in the commit that was let through. */
  readonly escaped: number;
}

interface Defect {
  readonly id: number;
  readonly reviewer: number;
  /** Told this often, it is fixed. */
  readonly tries: number;
  /** Comes into the code when this one is fixed. */
  readonly brings: Defect | null;
}

const defectsPerReviewer = 2;
const implementSeconds = 600;
const fixSeconds = 240;
const gateSeconds = 30;

class Code {
  readonly open: Map<number, { readonly defect: Defect; told: number }> = new Map();
  /** How long each reviewer takes. */
  readonly reviewSeconds: readonly number[];

  constructor({ reviewers, p, breaks, seed }: Trial) {
    const chance = randomOf(seed);
    this.reviewSeconds = Array.from({ length: reviewers }, () => 60 + 120 * chance());
    let id = 0;
    const make = (reviewer: number): Defect => {
      let tries = 1;
      while (chance() >= p) tries += 1;
      const brings = chance() < breaks ? make(Math.floor(chance() * reviewers)) : null;
      id += 1;
      return { id, reviewer, tries, brings };
    };
    const seeded = defectsPerReviewer * reviewers;
    for (let n = 0; n < seeded; n++) this.#enter(make(Math.floor(chance() * reviewers)));
  }

  seenBy(reviewer: number): Defect[] {
    return [...this.open.values()].flatMap(({ defect }) => (defect.reviewer === reviewer ? [defect] : []));
  }

  /** One turn of the agent with these defects in its prompt. */
  fix(told: readonly number[]): void {
    for (const id of told) {
      const entry = this.open.get(id);
      if (entry === undefined) continue;
      entry.told += 1;
      if (entry.told < entry.defect.tries) continue;
      this.open.delete(id);
      if (entry.defect.brings !== null) this.#enter(entry.defect.brings);
    }
  }

  #enter(defect: Defect): void {
    this.open.set(defect.id, { defect, told: 0 });
  }
}

/** Reviews one after the other; the first that finds something sends the agent back, and the next pass starts anew. */
export function shortCircuit(trial: Trial): Outcome {
  return inPasses(trial, (code, reviewers) => {
    let seconds = 0;
    for (const [index, reviewer] of reviewers.entries()) {
      seconds += code.reviewSeconds[reviewer] ?? 0;
      const found = code.seenBy(reviewer);
      if (found.length > 0) return { found, seconds, reviews: index + 1 };
    }
    return { found: [], seconds, reviews: reviewers.length };
  });
}

/** Every review, one after the other; one fix turn gets all findings. */
export function sequential(trial: Trial): Outcome {
  return inPasses(trial, (code, reviewers) => ({
    found: reviewers.flatMap((reviewer) => code.seenBy(reviewer)),
    seconds: code.reviewSeconds.reduce((sum, one) => sum + one, 0),
    reviews: reviewers.length,
  }));
}

/** Every review at once, each time. */
export function parallel(trial: Trial): Outcome {
  return inPasses(trial, (code, reviewers) => ({
    found: reviewers.flatMap((reviewer) => code.seenBy(reviewer)),
    seconds: Math.max(...code.reviewSeconds),
    reviews: reviewers.length,
  }));
}

type Pass = (
  code: Code,
  reviewers: readonly number[],
) => { readonly found: readonly Defect[]; readonly seconds: number; readonly reviews: number };

function inPasses(trial: Trial, pass: Pass): Outcome {
  const code = new Code(trial);
  const reviewers = Array.from({ length: trial.reviewers }, (_, index) => index);
  let [turns, reviews, seconds] = [1, 0, implementSeconds + gateSeconds];
  for (;;) {
    const round = pass(code, reviewers);
    reviews += round.reviews;
    seconds += round.seconds;
    if (round.found.length === 0) return { turns, reviews, seconds, escaped: code.open.size };
    code.fix(round.found.map(({ id }) => id));
    turns += 1;
    seconds += fixSeconds + gateSeconds;
  }
}

/** The issue machine itself, as a run drives it; only what it owes is played, on a clock that jumps. */
export function ours(trial: Trial): Outcome {
  return new Simulation(trial).play();
}

class Simulation {
  readonly #code: Code;
  readonly #step: ReturnType<typeof issueMachine>;
  #life: IssueLife = { state: newIssue(start), ledger: emptyLedger(start.issueId) };
  #now = 0;
  #commits = 0;
  #turns = 0;
  #reviews = 0;
  /** What is under way, by its end. */
  readonly #owed: { readonly at: number; readonly key: string; readonly settle: () => IssueEvent }[] = [];

  constructor(trial: Trial) {
    this.#code = new Code(trial);
    const names = Array.from({ length: trial.reviewers }, (_, index) => `r${index}`);
    const review = { ...panelOf(...names), max_retries: 1000 };
    this.#step = issueMachine(policyOf({ review, settings: { evidence_check: { required: ["test"] } } }));
  }

  play(): Outcome {
    this.#arrive({ type: "started" });
    while (this.#owed.length > 0) {
      this.#owed.sort((a, b) => a.at - b.at);
      const next = this.#owed.shift();
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.at);
      this.#arrive(next.settle());
    }
    const { phase, ending } = this.#life.state;
    if (phase !== "done" || ending?.status !== "success") throw new Error(`the life ended otherwise: ${phase}`);
    return { turns: this.#turns, reviews: this.#reviews, seconds: this.#now, escaped: this.#code.open.size };
  }

  #arrive(event: IssueEvent): void {
    const next = this.#step(this.#life, { ...event, at: this.#now * 1000 });
    this.#life = next.state;
    for (const key of next.cancel ?? []) {
      const index = this.#owed.findIndex((one) => one.key === key);
      if (index >= 0) this.#owed.splice(index, 1);
    }
    for (const effect of next.effects) this.#begin(effect);
  }

  #begin(effect: IssueEffect): void {
    if (effect.kind === "wait") return;
    if (effect.kind === "turn" && effect.role === "reviewer") this.#review(effect);
    else if (effect.kind === "turn") this.#work(effect);
    else {
      const seconds = effect.kind === "command" ? gateSeconds : 0;
      this.#owed.push({ at: this.#now + seconds, key: effect.key, settle: () => this.#settled(effect) });
    }
  }

  #settled(effect: Exclude<IssueEffect, TurnEffect>): IssueEvent {
    const { key } = effect;
    switch (effect.kind) {
      case "command":
        return commandEnded(effect, {});
      case "tracker":
        return { type: "tracker-done", key, ok: true };
      case "worktree":
        return effect.op === "remove" ? { type: "worktree-removed", key } : opened(key);
      case "land":
        return { type: "land-ended", key, outcome: this.#landed(effect) };
      default:
        throw new Error(`nobody expected ${effect.kind}`);
    }
  }

  #work({ key, prompt }: TurnEffect): void {
    const first = prompt === "implementer";
    const told = first ? [] : this.#toldDefects();
    this.#turns += 1;
    const settle = () => {
      this.#code.fix(told);
      this.#commits += 1;
      return turnEnded({ key, snapshot: snapshot(this.#commits) });
    };
    this.#owed.push({ at: this.#now + (first ? implementSeconds : fixSeconds), key, settle });
  }

  /** What a prompt would list: every open finding. */
  #toldDefects(): number[] {
    return this.#life.ledger.findings.flatMap(({ status, title }) =>
      status === "open" ? [Number(title.split(" ")[1])] : [],
    );
  }

  #review({ key, slot }: TurnEffect): void {
    const reviewer = Number(slot?.slice(1));
    // It reads the commit as it is when it starts.
    const findings = this.#code.seenBy(reviewer).map(remarkOf);
    this.#reviews += 1;
    const verdict = findings.length > 0 ? ("fail" as const) : ("pass" as const);
    const settle = () => turnEnded({ key, review: { type: "verdict", verdict, findings } });
    this.#owed.push({ at: this.#now + (this.#code.reviewSeconds[reviewer] ?? 0), key, settle });
  }

  #landed(effect: Extract<IssueEffect, { kind: "land" }>) {
    const { head } = effect;
    if (effect.op !== "propose") return { type: "landed", commit: head, behind: null } as const;
    const tree = this.#life.state.work?.tree ?? "";
    return { type: "proposed", tip: "c0", commit: head, tree, merged: false } as const;
  }
}

function opened(key: string): IssueEvent {
  const place = { path: "/w", branch: "ratchet/p-1", baseSha: "c0", head: "c0", tree: "t0", targetTip: "c0" };
  return { type: "worktree-ready", key, fresh: true, ...place };
}

/** Files of their own: no two defects are ever taken for one. */
function remarkOf({ id }: Defect): Remark {
  const title = `Defect ${id} of the change`;
  return { file: `file-${id}.ts`, line_start: 1, line_end: 2, priority: 1, title, body: { text: title } };
}

/** Numbers from 0 to 1 that look random and are the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
