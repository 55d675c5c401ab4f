import type { RunTriggerName } from "../issue/policy.js";
import type { EpicName } from "../ports/tracker.js";

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
  /** An issue that it leaves out has ended since and may be taken again. */
  readonly pickIsOld?: boolean;
  /** How often the board was waited for, and the wait that is owed. */
  readonly boards?: number;
  readonly board?: string | null;
  /** Whatever becomes ready ends that wait: nobody has to ask for it. */
  readonly hears?: boolean;
  readonly children: readonly RunChild[];
  /** Tells that are owed. */
  readonly telling: readonly string[];
  /** The last issues that somebody else claimed first: they left no record that would keep them from being picked again. */
  readonly lost: readonly string[];
  readonly started: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Lives that ended in the middle and can be resumed. */
  readonly interrupted?: number;
  /** Issues that were named and of which nothing has begun. */
  readonly unbegun?: readonly string[];
  /** Whether it has been asked why. */
  readonly namedLook?: "owed" | "over";
  /** How many of them cannot run. */
  readonly stuck?: number;
  /** It waits for new work no longer. */
  readonly unwatched?: true;
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
  readonly clockUntil?: number;
  readonly triggers?: TriggersState;
  /** The user's branch did not follow a landing. */
  readonly behind?: boolean;
  /** How often that was tried again at the end, and the try that is owed. */
  readonly follows?: number;
  readonly following?: string | null;
}

/** The run's own triggers. */
export interface TriggersState {
  /** Where the target was when the run began. */
  readonly startCommit: string;
  readonly fired: number;
  /** Attempt folders they have used so far. */
  readonly folders: number;
  readonly running: FiredTrigger | null;
  readonly queue: readonly QueuedTrigger[];
  /** run_end was fired or skipped. */
  readonly runEnd: boolean;
  /** How many intervals of the periodic trigger are over. */
  readonly periods?: number;
  readonly failed: boolean;
  /** One of them, not an issue, aborted the run. */
  readonly aborted: boolean;
  /** Looks at epics that are owed, and how many there were. */
  readonly looking: readonly string[];
  readonly looks: number;
  /** The last epics that this run saw completed, so that none counts twice. */
  readonly epics: readonly string[];
  /** The same of those that failed. */
  readonly failedEpics?: readonly string[];
  /** The last issues that did not succeed in an epic: their epics are looked at again when nothing else is left. */
  readonly failing?: readonly string[];
  /** How often this run has verified an epic that is still open. */
  readonly verified?: Readonly<Record<string, number>>;
  /** Whether it has been asked at the end which of them are open still. */
  readonly verifiedLook?: boolean;
  /** The last epics whose work this run found on branches that nobody had merged: when that is done, they are looked at anew. */
  readonly unmerged?: readonly string[];
  /** How many picks there were when epics were last looked for. */
  readonly searched?: number;
}
export interface QueuedTrigger {
  readonly name: RunTriggerName;
  /** What made it fire, as its log lines say it. */
  readonly about: string;
  /** The epic that is verified. */
  readonly epic?: EpicName;
}
export interface FiredTrigger extends QueuedTrigger {
  readonly key: string;
  readonly number: number;
}
export interface RunChild {
  readonly key: string;
  readonly issueId: string;
  readonly life: number;
  /** The epic that the issue is in. */
  readonly parent?: string;
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
