import type { FindingJson } from "../core/finding-json.js";
import type { Usage } from "../core/issue/events.js";
import type { PublicEvent } from "../core/report.js";

/** A run that is a workflow, as `runs export` prints it beside the run's own record. */
export interface WorkflowRecord {
  readonly name: string;
  readonly file: string;
  readonly goal: string | null;
  readonly status: "running" | "success" | "fail" | "cancelled";
  readonly reason: string | null;
  /** The stage that the ending is about. */
  readonly stage: string | null;
  readonly usage: Usage;
  /** In the order they were first reached; those of a called workflow as `<stage>/<its stage>`. */
  readonly stages: readonly StageHistory[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly time: string }[];
  /** Every one that was raised, as `findings --all --json` has them. */
  readonly findings: readonly FindingJson[];
}
interface StageHistory {
  readonly stage: string;
  /** Of the last visit that ended; null: none has. */
  readonly outcome: string | null;
  readonly usage: Usage;
  readonly findings: { readonly open: number; readonly resolved: number };
  readonly visits: readonly StageVisit[];
}
interface StageVisit {
  readonly visit: number;
  /** null: it goes on, or was broken off. */
  readonly outcome: string | null;
  /** Executions. */
  readonly attempts: number;
  readonly reason: string | null;
  readonly seconds: number;
  readonly usage: Usage | null;
  readonly started_at: string;
  readonly ended_at: string | null;
}

/** What the events of a run tell of it, one after the other. */
export class WorkflowHistory {
  private readonly stages = new Map<string, Writable<StageVisit>[]>();
  private readonly used: (Usage | null)[] = [];
  private readonly edges: WorkflowRecord["edges"][number][] = [];
  private head: Pick<WorkflowRecord, "goal" | "status" | "reason" | "stage"> = unbegun;

  add(event: PublicEvent) {
    switch (event.type) {
      case "workflow-started":
        if (isOwn(event)) this.head = { ...unbegun, goal: event.goal };
        return;
      case "workflow-finished":
        if (isOwn(event)) this.head = { ...this.head, status: event.status, reason: event.reason, stage: event.stage };
        return;
      // Of a visit that was broken off, too.
      case "turn-ended":
        this.used.push(event.usage);
        return;
      case "stage-started":
        return this.begin(event);
      case "stage-ended":
        return this.end(event);
      case "edge-taken":
        this.edges.push({ from: nameOf(event, event.from), to: nameOf(event, event.to), time: event.time });
        return;
      default:
        return;
    }
  }

  toRecord(about: Pick<WorkflowRecord, "name" | "file" | "findings">): WorkflowRecord {
    const { name, file, findings } = about;
    const stages = [...this.stages].map(([stage, visits]) => toHistory(stage, visits, findings));
    return { name, file, ...this.head, usage: total(this.used), stages, edges: this.edges, findings };
  }

  /** A visit that is executed again, after a failure or a crash, is the same one. */
  private begin({ calls = [], stage, visit, attempt, time }: Extract<PublicEvent, { type: "stage-started" }>): void {
    const begun = this.underWay([...calls, stage].join("/"), visit, time);
    begun.attempts = Math.max(begun.attempts, attempt);
  }

  private end({ calls = [], stage, visit, time, ...ended }: Extract<PublicEvent, { type: "stage-ended" }>): void {
    const begun = this.underWay([...calls, stage].join("/"), visit, time);
    const { outcome, attempts, reason, seconds, usage } = ended;
    Object.assign(begun, { outcome, attempts, reason, seconds, usage, ended_at: time } satisfies Partial<StageVisit>);
  }

  /** A workflow that is called again counts its visits anew: one that has ended stays as it is. */
  private underWay(stage: string, visit: number, time: string): Writable<StageVisit> {
    const visits = this.stages.get(stage) ?? [];
    this.stages.set(stage, visits);
    const known = visits.findLast((one) => one.visit === visit && one.ended_at === null);
    if (known !== undefined) return known;
    const begun = { ...newVisit, visit, started_at: time };
    visits.push(begun);
    return begun;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const unbegun = { goal: null, status: "running", reason: null, stage: null } as const;
const newVisit: Omit<StageVisit, "visit" | "started_at"> = {
  outcome: null,
  attempts: 1,
  reason: null,
  seconds: 0,
  usage: null,
  ended_at: null,
};

function isOwn({ calls = [] }: PublicEvent): boolean {
  return calls.length === 0;
}

function nameOf({ calls = [] }: PublicEvent, stage: string): string {
  return [...calls, stage].join("/");
}

function toHistory(stage: string, visits: readonly StageVisit[], findings: readonly FindingJson[]): StageHistory {
  const own = findings.filter((finding) => finding.stage === stage);
  const open = own.filter(({ status }) => status === "open").length;
  return {
    stage,
    outcome: visits.findLast(({ outcome }) => outcome !== null)?.outcome ?? null,
    usage: total(visits.map(({ usage }) => usage)),
    findings: { open, resolved: own.length - open },
    visits,
  };
}

function total(used: readonly (Usage | null)[]): Usage {
  const known = used.filter((usage) => usage !== null);
  const costs = known.flatMap(({ cost_usd }) => (cost_usd === null ? [] : [cost_usd]));
  return {
    input_tokens: known.reduce((sum, { input_tokens }) => sum + input_tokens, 0),
    output_tokens: known.reduce((sum, { output_tokens }) => sum + output_tokens, 0),
    cost_usd: costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0),
  };
}
