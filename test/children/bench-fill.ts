import { drive } from "../../src/durable/drive.js";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";

interface Fill {
  readonly home: string;
  readonly repository: string;
  readonly events: number;
}

/** A finished run with many public events, as a long-lived database has them. */
export async function fillEvents({ home, repository, events }: Fill): Promise<void> {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: home }) });
  await store.registerProject(repository);
  const perStep = 1000;
  const report = { type: "log", level: "info", text: "something happened in the run" } as const;
  await drive<number, { readonly type: "done"; readonly key: string }, { readonly key: string }, typeof report>({
    log: store.log({
      machine: "fill",
      kind: "other",
      runId: "20260101-000000-aaaaaa",
      codec: { encode: (state) => state, decode: (state) => Number(state), rows: () => [] },
    }),
    initial: 0,
    transition: (state) => ({
      state: state + 1,
      effects: (state + 1) * perStep < events ? [{ key: String(state) }] : [],
      reports: Array.from({ length: perStep }, () => report),
    }),
    perform: async ({ key }) => ({ event: { type: "done", key } }),
    crashed: (_effect, error) => {
      throw error;
    },
    now: Date.now,
  });
  store.close();
}
