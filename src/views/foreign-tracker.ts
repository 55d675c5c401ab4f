import { shellWord } from "./shell-word.js";

/** Issues that are not on our own board are changed where they are: what to do there. Of beads, by which program. */
export type ForeignTracker = "bd" | "br" | "github";

const names = { bd: "beads", br: "beads", github: "GitHub" } as const;

export function foreignName(tracker: ForeignTracker): string {
  return names[tracker];
}

/** null: it is our own board. */
export function foreignOf({
  kind,
  program = "bd",
}: {
  readonly kind: "local" | "beads" | "github";
  readonly program?: "bd" | "br";
}): ForeignTracker | null {
  if (kind === "local") return null;
  return kind === "beads" ? program : kind;
}

type Change = "add" | "list" | "retry" | "complete" | "unblock" | "change";

const byBeads = (bd: "bd" | "br"): Readonly<Record<Change, (id: string) => string>> => ({
  add: () => `${bd} create "What is to be done" prints an id; then ratchet run <id>`,
  list: () => `${bd} list`,
  retry: (id) => `${bd} update ${shellWord(id)} --remove-label=needs-followup --remove-label=human-review`,
  complete: (id) => `${bd} close ${shellWord(id)}`,
  unblock: (id) => `${bd} update ${shellWord(id)} --status=open`,
  change: (id) =>
    `${bd} show ${shellWord(id)} and ${bd} update ${shellWord(id)}; ratchet explain ${shellWord(id)} says how it stands`,
});
const byGithub: Readonly<Record<Change, (id: string) => string>> = {
  add: () => "open an issue on GitHub; then ratchet run <its number>",
  list: () => "ratchet run --dry-run shows what a run would take",
  retry: (id) => `remove the labels needs-followup and human-review of ${id} on GitHub`,
  complete: (id) => `close ${id} on GitHub`,
  unblock: (id) => `remove what blocks ${id} on GitHub`,
  change: (id) => `change ${id} on GitHub; ratchet explain ${shellWord(id)} says how it stands`,
};

/** Where the ids of issues are found. null: on our own board. */
export function listHint(tracker: ForeignTracker | null): string {
  return tracker === null ? "ratchet work list --all" : foreignHint(tracker, "list");
}

export function foreignHint(tracker: ForeignTracker, change: Change, id = ""): string {
  return (tracker === "github" ? byGithub : byBeads(tracker))[change](id);
}
