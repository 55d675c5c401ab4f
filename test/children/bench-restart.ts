import { drive } from "../../src/durable/drive.js";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";

type Done = { readonly type: "done"; readonly key: string };

/** Drives a machine for so many steps, then says `waiting` and hangs; started again it says `step` once it has made one. */
const steps = Number(process.argv[3]);
const store = await openStore({ home: ratchetHome({ RATCHET_HOME: process.argv[2] ?? "" }) });
await drive<number, Done, { readonly key: string }, never>({
  log: store.log({
    machine: "restart",
    kind: "other",
    runId: "20260101-000000-aaaaaa",
    codec: { encode: (state) => state, decode: (state) => Number(state), rows: () => [] },
  }),
  initial: 0,
  transition: (state, event) => ({
    state: state + 1,
    effects: event.type === "resumed" ? [] : [{ key: `step:${state}` }],
  }),
  perform: async ({ key }, { again }) => {
    if (key === `step:${steps}` && !again) {
      process.stdout.write("waiting\n");
      await new Promise((resolve) => setTimeout(resolve, 600_000));
    }
    if (again) process.stdout.write("step\n");
    return { event: { type: "done", key } };
  },
  crashed: (_effect, error) => {
    throw error;
  },
  now: Date.now,
});
