import { writeSync } from "node:fs";
import type { RunReport } from "../../src/core/report.js";
import { drive } from "../../src/durable/drive.js";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";

/** A machine of the given run that reports `count` times, one step each. */
const [root = "", runId = "", machine = "", count = "10"] = process.argv.slice(2);
const store = await openStore({ home: ratchetHome({ RATCHET_HOME: root }) });
await drive<number, { readonly type: "did" }, { readonly key: string }, RunReport>({
  log: store.log({
    machine,
    kind: "test",
    runId,
    codec: { encode: (state) => state, decode: Number, rows: () => [] },
  }),
  initial: 0,
  transition: (state) => ({
    state: state + 1,
    effects: state < Number(count) - 1 ? [{ key: `k${state}` }] : [],
    reports: [{ type: "log", level: "info", text: `${machine} ${state}` }],
  }),
  perform: async () => ({ event: { type: "did" } }),
  crashed: () => ({ type: "did" }),
  now: Date.now,
});
store.close();
writeSync(1, "done\n");
