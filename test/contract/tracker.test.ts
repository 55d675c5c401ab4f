import { localTracker } from "../../src/trackers/local.js";
import { beadsWorld } from "./beads-world.js";
import { newItem } from "./new-item.js";
import { tempStore } from "./temp-store.js";
import { testTracker } from "./tracker-suite.js";

testTracker("local", async () => {
  const { store, done } = await tempStore();
  const { id: projectId } = await store.registerProject("/work/p");
  return {
    tracker: localTracker(store.workItems, projectId),
    add: async (issue) => {
      const added = await store.workItems.add(newItem(projectId, issue));
      if (!added.ok) throw new Error(added.reason);
    },
    done,
  };
});

testTracker("beads (bd)", async () => beadsWorld({ program: "bd", envelope: true }));
testTracker("beads (br)", async () => beadsWorld({ program: "br" }));
