import type { NewWorkItem } from "../../src/core/ports/work-items.js";

export function newItem(projectId: string, parts: Partial<NewWorkItem> = {}): NewWorkItem {
  return {
    projectId,
    id: null,
    title: parts.id ?? "an item",
    body: "",
    type: "task",
    parent: null,
    deps: [],
    priority: 2,
    source: "implement",
    createdAt: null,
    ...parts,
  };
}
