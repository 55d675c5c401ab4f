import type { Asker } from "../../core/ports/tracker.js";
import { askTracker } from "../../lib/ask.js";
import type { Github } from "../../lib/github-client/client.js";
import { type Call, nameOf } from "../../lib/github-client/sender.js";

/** The same GitHub for one who may leave: every request of his ends with his signal. */
export function heardBy(github: Github, asker: Asker): Github {
  const ask = <C extends Call, T>(call: C, work: (call: C) => Promise<T>): Promise<T> =>
    askTracker(nameOf(call, github.place), asker, (signal) => work({ ...call, signal }));
  return {
    ...github,
    get: (call, parse) => ask(call, (own) => github.get(own, parse)),
    list: (call, parse) => ask(call, (own) => github.list(own, parse)),
    changed: (call, etag, parse) => ask(call, (own) => github.changed(own, etag, parse)),
    send: (call) => ask(call, (own) => github.send(own)),
    tail: (call, maxBytes) => ask(call, (own) => github.tail(own, maxBytes)),
  };
}
