import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Home, ratchetHome } from "../../src/lib/home.js";
import { openStore, type Store } from "../../src/store/store.js";

export interface TempStore {
  readonly store: Store;
  readonly home: Home;
  /** A second connection to the same database, closed with the first. */
  again(clock?: { now(): number }): Promise<Store>;
  done(): void;
}

/** A real store in a state home of its own. */
export async function tempStore(clock?: { now(): number }): Promise<TempStore> {
  const root = mkdtempSync(join(tmpdir(), "ratchet-store-"));
  const home = ratchetHome({ RATCHET_HOME: root });
  const open = (with_?: { now(): number }) => openStore({ home, ...(with_ && { clock: with_ }) });
  const store = await open(clock);
  const stores = [store];
  return {
    store,
    home,
    again: async (other = clock) => {
      const second = await open(other);
      stores.push(second);
      return second;
    },
    done: () => {
      for (const each of stores) each.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
