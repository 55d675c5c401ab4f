import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attemptsOf, type Ended, type Sandbox, sandbox } from "./sandbox.js";

/** Everybody writes down in $HOME/ran that they were there: "role issue …". */
const agent = `
cat >/dev/null
echo "$RATCHET_ROLE \${RATCHET_ISSUE_ID:-run} $RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >>"$HOME/ran"
file=\${RATCHET_ISSUE_ID:-run}.txt
echo "$RATCHET_ROLE $RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >>"$file"
git add --all && git commit --quiet --message "$RATCHET_ROLE for \${RATCHET_ISSUE_ID:-the run}"
`;
export const pass = `echo '{"verdict": "pass", "findings": []}'`;
export const failWith = (title: string, priority = 1) =>
  `echo '{"verdict": "fail", "findings": [{"file": "a.txt", "line_start": 1, "line_end": 1, "priority": ${priority}, "title": "${title}", "body": "It is."}]}'`;
const noteReview = `cat >/dev/null
echo "review \${RATCHET_ISSUE_ID:-run} $RATCHET_STAGE_ID $RATCHET_BASE_SHA $RATCHET_HEAD_SHA" >>"$HOME/ran"
`;

export interface TriggerWorld {
  /** Names of commands and what they do, besides writing down "<name> <issue>". */
  readonly commands: Readonly<Record<string, string>>;
  readonly triggers: object;
  /** Names of commands that may fail. */
  readonly mayFail?: readonly string[];
  /** The per-issue review's reviewer; absent: no per-issue review. */
  readonly reviewer?: string;
  readonly agent?: string;
  readonly more?: object;
}

/** A repository with triggers. Files under $HOME (the sandbox's root) tell scripts what to wait for. */
export function triggerBox(world: TriggerWorld): Sandbox {
  const { commands, triggers, mayFail = [], reviewer, agent: before = "", more = {} } = world;
  const box = sandbox();
  const noted = Object.entries(commands).map(([name, text]) => {
    const command = `echo "${name} \${RATCHET_ISSUE_ID:-run}" >>"$HOME/ran"\n${text}`;
    return [name, { command, timeout: 60, allow_fail: mayFail.includes(name) }];
  });
  const review = { enabled: true, reviewer_type: "command", command: reviewCommand(box, reviewer ?? pass) };
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", `${before}\n${agent}`) },
    max_agents: 4,
    commands: Object.fromEntries(noted),
    validation_triggers: triggers,
    ...(reviewer === undefined ? {} : { per_issue_review: review }),
    ...more,
  });
  return box;
}

/** A reviewer that writes down what it was asked to look at. */
function reviewCommand(box: Sandbox, text: string): string[] {
  return box.script("review.sh", `${noteReview}${text}\n`);
}

/** A trigger's own code_review, where no other section chooses the reviewer; what it does is in bin/own-review.sh. */
export function ownReview(more: object = {}): object {
  const command = ["sh", "-c", 'exec sh "$HOME/bin/own-review.sh"'];
  return { enabled: true, reviewer_type: "command", command, ...more };
}
export function putOwnReview(box: Sandbox, text: string): void {
  box.put("bin/own-review.sh", `${noteReview}${text}\n`);
}

/** What was written down, in order. */
export function ran(box: Sandbox): string[] {
  const file = join(box.root, "ran");
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}
export function countRan(box: Sandbox, start: string): number {
  return ran(box).filter((line) => line.startsWith(start)).length;
}

/** A shell line that waits until there is a file of that name in $HOME, having said that it does. */
export function waitFor(name: string): string {
  return `: >"$HOME/${name}-waited-for"; while [ ! -e "$HOME/${name}" ]; do sleep 0.02; done`;
}
export function isWaitedFor(box: Sandbox, name: string): boolean {
  return existsSync(join(box.root, `${name}-waited-for`));
}

export function triggerLines({ stdout }: Pick<Ended, "stdout">): string[] {
  return stdout.split("\n").filter((line) => line.startsWith("[trigger]"));
}
export function runLog(box: Sandbox, run: string): string {
  return readFileSync(join(box.home, "runs", run, "run.log"), "utf8");
}

/** The prompts of an issue (or `_run`) in a run whose folder ends like this, in order. */
export function promptsOf(box: Sandbox, at: { run: string; issue: string; what: string }): string[] {
  const folders = attemptsOf(box, at.run, at.issue).filter((name) => name.endsWith(`-${at.what}`));
  return folders.map((name) => readFileSync(join(box.home, "runs", at.run, at.issue, name, "prompt.md"), "utf8"));
}
