import { writeSync } from "node:fs";
import { messageOf } from "../../src/lib/errors.js";
import { ratchetHome } from "../../src/lib/home.js";
import { openStore } from "../../src/store/store.js";

/** Opens the store and adds items of the given size until it has added them all or is told why not; prints one line. */
const [root = "", count = "1", bytes = "10", umask = "022"] = process.argv.slice(2);
process.umask(Number.parseInt(umask, 8));
let added = 0;
try {
  const store = await openStore({ home: ratchetHome({ RATCHET_HOME: root }) });
  const project = await store.registerProject("/repo");
  for (; added < Number(count); added++) {
    await store.workItems.add({
      projectId: project.id,
      id: null,
      title: `item ${added}`,
      body: "x".repeat(Number(bytes)),
      type: "task",
      parent: null,
      deps: [],
      priority: 2,
      source: "test",
      createdAt: null,
    });
  }
  writeSync(1, `${JSON.stringify({ added })}\n`);
} catch (error) {
  const hint = error instanceof Error && "hint" in error ? error.hint : null;
  const name = error instanceof Error ? error.name : "";
  writeSync(1, `${JSON.stringify({ added, name, message: messageOf(error), hint })}\n`);
}
