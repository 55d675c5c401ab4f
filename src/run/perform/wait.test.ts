import { expect, test } from "vitest";
import { parseRunSignal, performWait } from "./wait.js";

test("a signal that nobody understands is told and taken out, so that it is not the next one again", async () => {
  const wait = (body: unknown) => {
    const inbox = { send: async () => undefined, next: async () => ({ id: 7, body }) };
    const effect = { kind: "wait", key: "signal:1" } as const;
    return performWait({ inbox, machine: "m", parse: parseRunSignal }, effect, new AbortController().signal);
  };
  expect(await wait({ name: "drain" })).toEqual({
    event: { type: "signal", key: "signal:1", signal: { name: "drain" } },
    signal: 7,
  });
  expect(await wait({ name: "dance" })).toMatchObject({
    event: { type: "crashed", key: "signal:1", effect: "wait", message: 'unknown signal {"name":"dance"}' },
    signal: 7,
  });
});
