/** A run as its row keeps it: what is in flight, and counts. */
export interface RunState {
  readonly version: 1;
  readonly phase: "preparing" | "running" | "done";
  readonly signals: number;
  /** The wait that is owed. */
  readonly waiting: string | null;
  readonly picks: number;
  /** The pick that is owed. */
  readonly picking: string | null;
  readonly children: readonly RunChild[];
  /** Tells that are owed. */
  readonly telling: readonly string[];
  /** The last issues that somebody else claimed first: they left no record that would keep them from being picked again. */
  readonly lost: readonly string[];
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly draining: boolean;
  readonly stopping: boolean;
  readonly aborting: boolean;
  /** Nothing more is picked: a pick broke. */
  readonly closed: boolean;
  /** Something outside (tracker, forge, disk) could not be reached. */
  readonly external: boolean;
  readonly broken: boolean;
  readonly exitCode: number | null;
  /** How the budget was used up, once it was: nothing new starts. */
  readonly budget?: string;
  /** The timer of the budget's minutes, while it is owed. */
  readonly clock?: string | null;
}
export interface RunChild {
  readonly key: string;
  readonly issueId: string;
  readonly life: number;
}

export function newRun(): RunState {
  return {
    version: 1,
    phase: "preparing",
    signals: 0,
    waiting: null,
    picks: 0,
    picking: null,
    children: [],
    telling: [],
    lost: [],
    started: 0,
    succeeded: 0,
    failed: 0,
    draining: false,
    stopping: false,
    aborting: false,
    closed: false,
    external: false,
    broken: false,
    exitCode: null,
  };
}
