import { existsSync, watch, writeSync } from "node:fs";
import { join } from "node:path";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";

/** Waits for the starting shot, the file `go`, then claims one item: `claimed` or `lost`. */
const [root = "", projectId = "", id = "", holder = ""] = process.argv.slice(2);
const store = await openStore({ home: ratchetHome({ RATCHET_HOME: root }) });
await new Promise<void>((resolve) => {
  const look = () => {
    if (!existsSync(join(root, "go"))) return;
    watcher.close();
    resolve();
  };
  const watcher = watch(root, look);
  writeSync(1, "ready\n");
  look();
});
const claimed = await store.workItems.claim(projectId, id, {
  holder,
  leaseUntil: Date.now() + 60_000,
  now: Date.now(),
});
writeSync(1, claimed ? "claimed\n" : "lost\n");
store.close();
