import type { Inbox } from "../run/context.js";
import type { Store } from "../store/store.js";

export function inboxOf(store: Store): Inbox {
  return {
    send: async (machine, body) => void (await store.signal(machine, body)),
    next: (machine, signal) => store.nextSignal(machine, 0, signal),
    isEmpty: async (machine) => (await store.signals(machine)).length === 0,
    passAnswersOn: (from, to) => store.passAnswersOn(from, to),
  };
}
