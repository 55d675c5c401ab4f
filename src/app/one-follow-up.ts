import { isRunSource } from "../core/follow-up.js";
import type { Asker, Tracker } from "../core/ports/tracker.js";
import { askTracker } from "../lib/ask.js";
import { withLock } from "../lib/lock.js";

/**
 * What runs find about the whole repository is told in one issue, whichever run it is. A tracker of somebody else's is
 * asked for it first, and then told to make it: between the runs of this machine that is one step.
 */
export function withOneFollowUp(tracker: Tracker, lock: string, asker: Asker | null = null): Tracker {
  const { askedBy, followUp } = tracker;
  return {
    ...tracker,
    ...(askedBy ? { askedBy: (other) => withOneFollowUp(askedBy(other), lock, other) } : {}),
    followUp: (source, text) => {
      if (!isRunSource(source)) return followUp(source, text);
      let isOurs = false;
      // From then on its calls are told of by their own names.
      const onSlow: Asker["onSlow"] = (what) => (isOurs ? undefined : asker?.onSlow(what));
      const work = () => {
        isOurs = true;
        return followUp(source, text);
      };
      return askTracker("another run's follow-up", asker && { signal: asker.signal, onSlow }, (signal) =>
        withLock(lock, work, signal ? { signal } : {}),
      );
    },
  };
}
