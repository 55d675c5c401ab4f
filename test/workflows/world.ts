import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "../../src/core/finding.js";
import type { PublicEvent } from "../../src/core/report.js";
import { type Ended, eventsOf, type Running, type Sandbox, sandbox, until } from "../scenarios/sandbox.js";

/** A repository in which a shell program is the agent of every stage: quick to start, and it says what it is told to. */
export interface WorkflowWorld extends Sandbox {
  /** The body of `case "$RATCHET_STAGE_ID" in … esac`; the current folder is the checkout. */
  readonly agent: (cases: string, more?: object) => void;
  readonly workflow: (file: string, text: string) => void;
  readonly run: (...args: string[]) => Promise<Ended>;
  readonly findings: (which: string, all?: boolean) => Promise<Finding[]>;
}

export function workflowWorld(): WorkflowWorld {
  const box = sandbox();
  return {
    ...box,
    agent: (cases, more = {}) => {
      const command = box.script("agent.sh", `cat > /dev/null\ncase "$RATCHET_STAGE_ID" in\n${cases}\nesac\n`);
      box.configure({ agent: { type: "command", command }, ...more });
    },
    workflow: (file, text) => box.write(file, text),
    run: (...args) => box.ratchet("workflow", "run", ...args),
    findings: async (which, all = true) => {
      const { stdout } = await box.ratchet("findings", which, "--json", ...(all ? ["--all"] : []));
      return JSON.parse(stdout) as Finding[];
    },
  };
}

/** The stages in the order they ended, each with its outcome. */
export function outcomesOf(ended: Pick<Ended, "stdout">): string[] {
  return eventsOf(ended).flatMap((event) =>
    event.type === "stage-ended" ? [`${event.stage} ${event.visit} ${event.outcome}`] : [],
  );
}

export function pathOf(ended: Pick<Ended, "stdout">): string[] {
  return eventsOf(ended).flatMap((event) => (event.type === "edge-taken" ? [`${event.from} -> ${event.to}`] : []));
}

export function runOf(ended: Pick<Ended, "stdout">): string {
  const [first] = eventsOf(ended);
  if (first === undefined) throw new Error("the run told nothing");
  return first.run_id;
}

/** The attempts of a workflow run: folder names, in order. */
export function stagesOf({ home }: Sandbox, run: string): string[] {
  const folder = join(home, "runs", run, "_run");
  return readdirSync(folder).sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
}

export function promptOf({ home }: Sandbox, run: string, folder: string): string {
  return readFileSync(join(home, "runs", run, "_run", folder, "prompt.md"), "utf8");
}

/** Waits until the run has told such an event. */
export async function toldBy(running: Running, what: string, fits: (event: PublicEvent) => boolean): Promise<void> {
  await until(what, () => {
    const whole = running.stdout().slice(0, running.stdout().lastIndexOf("\n") + 1);
    return eventsOf({ stdout: whole }).some(fits);
  });
}
