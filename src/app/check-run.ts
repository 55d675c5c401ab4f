import { checkJournal, type JournalCheck } from "../run/check-journal.js";
import type { Store, StoredRun } from "../store/store.js";
import { version } from "../version.js";

/** Whether the journal of a finished run gives its stored rows; null: another version wrote it. */
export async function checkRun(store: Store, run: StoredRun): Promise<JournalCheck | null> {
  const { runId, projectId, settings, options, record } = run;
  if (record.version !== version) return null;
  return await checkJournal({
    policy: { runId, projectId, settings, options, target: record.target_branch },
    options,
    journal: (machine) => store.journal(machine),
    state: async (machine) => (await store.machineState(machine))?.state ?? null,
  });
}
