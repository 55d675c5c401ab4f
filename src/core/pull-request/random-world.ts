import type { CycleEffect, JoinEffect, PrEffect } from "./effects.js";
import type { Looked, PrEvent, SeenCheck, SeenRemark } from "./events.js";
import { isWaitingForPerson, PrWorld, remark } from "./fixture.js";
import type { PrNext } from "./step.js";

/** A forge, a board and people that do as a list of numbers says, in any order; then benignly, so that everything gets done. */
export class RandomPrWorld extends PrWorld {
  /** Every key that was ever owed. */
  readonly keys = new Set<string>();
  /** What each cycle took along. */
  readonly cycles = new Map<number, readonly string[]>();
  /** Cycles that came to nothing until a person decided. */
  readonly inVain = new Set<number>();
  /** Replies that were posted, as thread:cycle. */
  readonly replies: string[] = [];
  readonly summaries: number[] = [];
  /** Trusted remarks that nobody took back. */
  readonly meant = new Map<string, SeenRemark>();
  readonly admitted = new Set<string>();
  /** What people asked for in their own words. */
  readonly asked = new Set<string>();
  private readonly choices: number[];
  private made = 0;
  /** Whose words each look brought. */
  private readonly words = new Map<string, ReadonlySet<string>>();

  constructor(settings: ConstructorParameters<typeof PrWorld>[0], choices: readonly number[]) {
    super(settings);
    this.choices = [...choices];
    for (const key of this.owed.keys()) this.keys.add(key);
  }

  override send(event: PrEvent): PrNext {
    const next = super.send(event);
    // The first event is sent before there is anything of ours.
    for (const { key } of this.keys ? next.effects : []) {
      if (this.keys.has(key)) throw new Error(`${key} was owed before`);
      this.keys.add(key);
    }
    return next;
  }

  /** One thing happens; false when there is no more to choose. */
  step(): boolean {
    if (this.choices.length === 0) return false;
    const actions = [
      ...[() => this.say(), () => this.say(), () => this.settle(), () => this.settle(), () => this.settle()],
      ...[() => this.settle(), () => this.work(), () => this.work(), () => this.check(), () => this.decide()],
      ...[() => this.takeBack(), () => this.ask(), () => this.conflict(), () => this.end()],
    ];
    actions[this.choose() % actions.length]?.();
    if (this.chance(5)) this.send({ type: "resumed" });
    return true;
  }

  /** Everybody does what is expected of them, until nothing is left to do. */
  calmDown(): void {
    this.choices.length = 0;
    for (let rounds = 0; rounds < 100; rounds += 1) {
      this.decide();
      for (const { id } of this.items) this.finishRework(id);
      this.signal({ name: "look" });
      for (let steps = 0; this.busy().length > 0; steps += 1) {
        if (steps > 1000) throw new Error("it never comes to rest");
        this.settle();
      }
      const { deliveries, undone, phase } = this.life.state;
      const open = Object.values(deliveries).some(
        ({ status, cause }) => status === "delivered" || (status === "waiting" && cause),
      );
      if (phase !== "following" ? undone.length === 0 : !open && undone.length === 0 && !this.escalated) return;
    }
    throw new Error("it is never done");
  }

  private choose(): number {
    return this.choices.shift() ?? 0;
  }
  private chance(percent: number): boolean {
    return this.choices.length > 0 && this.choose() % 100 < percent;
  }
  private busy(): PrEffect[] {
    const ended = this.life.state.phase !== "following";
    return [...this.owed.values()].filter(({ kind }) => kind !== "wait" && (kind !== "timer" || ended));
  }

  private say(): void {
    this.made += 1;
    const kind = ["inline", "review", "comment"][this.choose() % 3] ?? "comment";
    const trusted = !this.chance(20);
    const thread =
      kind === "inline" && this.chance(30) ? this.remarks.find((one) => one.thread !== null)?.thread : null;
    const one = remark(`${kind}:${this.made}`, {
      digest: `words ${this.made}`,
      ...(thread ? { thread } : {}),
      ...(trusted ? {} : { login: "eve", association: "NONE" }),
      ...(kind === "review" && this.chance(50) ? { verdict: "commented" as const } : {}),
    });
    this.remarks = [...this.remarks, one];
    if (trusted) this.meant.set(one.id, one);
  }

  /** Taken back before anybody acted on it, or edited. */
  private takeBack(): void {
    const one = this.remarks[this.choose() % Math.max(1, this.remarks.length)];
    const status = one && this.life.state.deliveries[one.id]?.status;
    // While a look is under way it is not known which words it brings, nor what joins meanwhile.
    const { looking, owed, undone } = this.life.state;
    if (!one || looking || [...owed, ...undone].some(({ kind }) => kind === "join")) return;
    if (status !== undefined && status !== "waiting" && status !== "untrusted") return;
    if (this.chance(50)) {
      this.remarks = this.remarks.filter((other) => other !== one);
      this.meant.delete(one.id);
    } else {
      this.remarks = this.remarks.map((other) => (other === one ? { ...one, digest: `${one.digest}!` } : other));
      this.admitted.delete(one.id);
    }
  }

  private ask(): void {
    const untrusted = Object.entries(this.life.state.deliveries).find(([, { status }]) => status === "untrusted");
    if (untrusted && this.chance(50) && !this.life.state.looking) {
      this.signal({ name: "admit", id: untrusted[0] });
      if (this.remarks.some(({ id }) => id === untrusted[0])) this.admitted.add(untrusted[0]);
    } else this.askForRework();
  }
  private askForRework(): void {
    this.made += 1;
    const feedback = this.chance(50) ? `please ${this.made}` : null;
    if (feedback !== null && this.life.state.phase === "following") this.asked.add(feedback);
    this.signal({ name: "rework", cycle: null, feedback });
  }

  /** A run takes the rework: it fails, needs a person, or is pushed. */
  private work(): void {
    const item = this.items.find(({ source, status }) => source === "rework" && status !== "completed");
    if (!item || item.status === "waiting_for_response") return;
    if (item.status !== "claimed") return void this.set(item.id, { status: "claimed" });
    if (this.chance(15)) return void this.set(item.id, { status: "failed", reason: "broke" });
    if (this.chance(15)) return void this.set(item.id, { status: "waiting_for_response", reason: "nothing changed" });
    this.finishRework(item.id);
  }
  private finishRework(id: string): void {
    const item = this.items.find((one) => one.id === id);
    if (item?.source !== "rework" || item.status === "completed" || item.status === "waiting_for_response") return;
    this.made += 1;
    this.checks = [];
    this.pullRequest = { ...this.pullRequest, mergeable: true };
    this.push(item.cycle, `head${this.made}`);
  }

  private decide(): void {
    if (!this.escalated || this.life.state.owed.some(({ kind }) => kind === "escalate")) return;
    this.escalated = false;
    for (const item of this.items) if (isWaitingForPerson(item)) this.inVain.add(item.cycle);
  }

  private check(): void {
    const status = (["failure", "success", "pending"] as const)[this.choose() % 3] ?? "success";
    const one: SeenCheck = { id: "t", name: "test", commit: this.pullRequest.head, status, required: !this.chance(30) };
    this.checks = [one];
  }
  private conflict(): void {
    this.pullRequest = { ...this.pullRequest, mergeable: [true, false, null][this.choose() % 3] ?? null };
  }
  private end(): void {
    const { state } = this.pullRequest;
    if (state === "closed" && this.chance(50)) this.pullRequest = { ...this.pullRequest, state: "open" };
    if (state !== "open" || !this.chance(5)) return;
    this.pullRequest = { ...this.pullRequest, state: this.chance(50) ? "merged" : "closed" };
  }

  private settle(): void {
    const open = this.busy();
    const effect = open[this.choose() % Math.max(1, open.length)];
    if (!effect) {
      const timer = this.find("timer");
      if (timer) this.send({ type: "timer-fired", key: timer.key });
      return;
    }
    if (effect.kind === "look") return void this.send(this.seen(effect.key));
    if (effect.kind === "timer") {
      // In the end nobody opens it again.
      if (this.choices.length === 0 && this.life.state.phase === "closed") this.now += 15 * 24 * 3_600_000;
      return void this.send({ type: "timer-fired", key: effect.key });
    }
    if (this.chance(10)) {
      return void this.send({ type: "crashed", key: effect.key, effect: effect.kind, message: "broke" });
    }
    if (effect.kind === "post" && this.chance(10)) {
      return void this.send({ type: "post-failed", key: effect.key, reason: "502", retryable: true });
    }
    this.note(effect);
    // Killed after the board had it and before that was recorded.
    if (effect.kind === "join" && this.joined.has(effect.join) && this.chance(20)) {
      return void this.send({ type: "crashed", key: effect.key, effect: effect.kind, message: "killed" });
    }
    if (effect.kind === "finish") this.cutShort();
    this.perform(effect);
  }
  /** What it was to answer is not answered by it any more. */
  private cutShort(): void {
    for (const { source, status, cycle } of this.items) {
      if (source === "rework" && status !== "completed") this.inVain.add(cycle);
    }
  }

  private seen(key: string): PrEvent {
    if (this.chance(10)) return { type: "look-failed", key, reason: "down" };
    const parts = { inline: "inline", review: "reviews", comment: "comments" } as const;
    const failed = (["reviews", "inline", "comments", "checks"] as const).filter(() => this.chance(8));
    const looked = this.looked(key);
    const left: Looked = {
      ...looked,
      failed: failed.map((part) => ({ part, result: "error", reason: "502" })),
      remarks: looked.remarks.filter(({ kind }) => !failed.includes(parts[kind])),
      checks: failed.includes("checks") ? [] : looked.checks,
    };
    this.words.set(left.path, new Set(left.remarks.map(({ id }) => id)));
    return left;
  }

  private note(effect: PrEffect): void {
    if (effect.kind === "cycle") {
      if (this.cycles.has(effect.cycle)) throw new Error(`cycle ${effect.cycle} was made twice`);
      this.cycles.set(effect.cycle, effect.parts);
      this.needWords(effect);
    }
    if (effect.kind === "join" && this.isUnbegun(effect.item) && !this.joined.has(effect.join)) {
      this.joined.add(effect.join);
      this.cycles.set(effect.cycle, [...(this.cycles.get(effect.cycle) ?? []), ...effect.parts]);
      this.needWords(effect);
    }
    if (effect.kind !== "post") return;
    if (effect.op === "reply") this.replies.push(`${effect.thread}:${effect.cycle}`);
    if (effect.op === "summary") this.summaries.push(effect.cycle);
  }

  private isUnbegun(item: string): boolean {
    return this.items.some(({ id, status }) => id === item && status === "available");
  }
  private needWords({ parts, look }: CycleEffect | JoinEffect): void {
    const said = parts.filter((id) => /^(inline|review|comment):/.test(id));
    const missing = said.filter((id) => !this.words.get(look)?.has(id));
    if (missing.length > 0) throw new Error(`the words of ${missing.join()} are not there`);
  }

  /** The cycles that took a remark along, those left out that came to nothing. */
  cyclesOf(id: string): number[] {
    return [...this.cycles]
      .filter(([cycle, parts]) => parts.includes(id) && !this.inVain.has(cycle))
      .map(([cycle]) => cycle);
  }
}
