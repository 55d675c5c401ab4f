import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beadsTracker } from "../../src/trackers/beads.js";
import { agents } from "./process-support.js";
import type { TrackerWorld } from "./tracker-suite.js";

interface StubIssue {
  readonly id: string;
  readonly status: string;
  readonly assignee: string;
  readonly labels: readonly string[];
  readonly notes: string;
  readonly close_reason?: string;
  readonly description: string;
  readonly deps: readonly string[];
  readonly links?: readonly string[];
}
interface StubState {
  issues: StubIssue[];
  faults: {
    command: string;
    times: number;
    /** Or what it is killed by. */
    code?: number | NodeJS.Signals;
    say?: string;
    /** It does what it was asked before it fails. */
    after?: boolean;
    prints?: string;
    /** Only where an issue is asked about that is in progress. */
    claimed?: boolean;
    /** So many calls before it are answered. */
    skip?: number;
    /** It says why it fails on stdout, in plain words. */
    stdout?: boolean;
  }[];
  lose: string[];
  calls: string[][];
}

export interface BeadsWorld extends TrackerWorld {
  readonly root: string;
  readonly env: Record<string, string>;
  readonly takeOver: NonNullable<Parameters<typeof beadsTracker>[1]>;
  state(): StubState;
  change(change: (state: StubState) => void): void;
  issue(id: string): StubIssue;
}

/** A folder with a stub of the program on its PATH. `over`: runs whose claims bind nobody any more. */
export function beadsWorld({
  program,
  envelope = false,
  over = [],
}: {
  readonly program: "bd" | "br";
  readonly envelope?: boolean;
  readonly over?: readonly string[];
}): BeadsWorld {
  const root = mkdtempSync(join(tmpdir(), "ratchet-beads-"));
  const file = join(root, "issues.json");
  const bin = join(root, "bin");
  mkdirSync(bin);
  const script = `#!/bin/sh\nexec "${process.execPath}" "${join(agents, "bd-stub.mjs")}" "$@"\n`;
  writeFileSync(join(bin, program), script);
  chmodSync(join(bin, program), 0o755);
  const env = { PATH: `${bin}:/usr/bin:/bin`, BD_STUB_FILE: file, BD_STUB_AS: program };
  const settings = { ...env, ...(envelope ? { BD_STUB_ENVELOPE: "1" } : {}) };
  const state = (): StubState => JSON.parse(readFileSync(file, "utf8")) as StubState;
  const change = (alter: (now: StubState) => void): void => {
    const now = state();
    alter(now);
    writeFileSync(file, JSON.stringify(now));
  };
  writeFileSync(file, JSON.stringify({ issues: [], faults: [], lose: [], calls: [] }));
  const noteFolder = join(root, "notes");
  const takeOver = { isOver: async (run: string) => over.includes(run), lockFolder: join(root, "locks"), noteFolder };
  return {
    root,
    env: settings,
    takeOver,
    tracker: beadsTracker({ cwd: root, env: settings }, takeOver),
    state,
    change,
    issue: (id) => {
      const found = state().issues.find((each) => each.id === id);
      if (!found) throw new Error(`no issue ${id}`);
      return found;
    },
    add: async (issue) => change((now) => void now.issues.push(stubIssue(issue))),
    done: () => rmSync(root, { recursive: true, force: true }),
  };
}

function stubIssue({ id, type = "task", parent, deps = [], priority = 2 }: Parameters<TrackerWorld["add"]>[0]) {
  const texts = { title: id, description: "", notes: "", status: "open", assignee: "" };
  return { id, ...texts, issue_type: type, priority, labels: [], deps, ...(parent ? { parent } : {}) };
}
