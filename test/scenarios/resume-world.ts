import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Sandbox, sandbox } from "./sandbox.js";

/** One prompt as an agent got it. */
export interface Sent {
  readonly kind: string;
  /** The session it was to be resumed in; "new" where none was named. */
  readonly session: string;
  readonly attempt: string;
  readonly text: string;
}

export interface ResumeWorld extends Sandbox {
  /** What the agent of an issue does instead of one more line in <issue>.txt, committed; shell. */
  readonly agentDoes: (issue: string, shell: string) => void;
  /** What the reviewer of an issue does instead of passing; shell. */
  readonly reviewerDoes: (issue: string, shell: string) => void;
  /** Every prompt the issue's agents got so far. */
  readonly sent: (issue: string) => Sent[];
  readonly settings: Readonly<Record<string, unknown>> & { readonly per_issue_review: object };
}

/** Keeps every prompt; its session is the one it was given, else named after the issue and the turn. */
const agent = `
mkdir -p "$HOME/sent/$RATCHET_ISSUE_ID"
n=$(printf %02d $(ls "$HOME/sent/$RATCHET_ISSUE_ID" | wc -l))
{ echo "$RATCHET_PROMPT_KIND \${RATCHET_SESSION_ID:-new} $RATCHET_ATTEMPT"; cat; } >"$HOME/sent/$RATCHET_ISSUE_ID/$n"
session=\${RATCHET_SESSION_ID:-session-$RATCHET_ISSUE_ID-$n}
echo "{\\"session_id\\": \\"$session\\"}" >"$RATCHET_RESULT_FILE"
if [ -e "$HOME/agent-$RATCHET_ISSUE_ID" ]; then . "$HOME/agent-$RATCHET_ISSUE_ID"; fi
echo "$RATCHET_PROMPT_KIND $RATCHET_ATTEMPT" >>"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
const reviewer = `
cat >"$RATCHET_RESULT_FILE.prompt"
if [ -e "$HOME/review-$RATCHET_ISSUE_ID" ]; then . "$HOME/review-$RATCHET_ISSUE_ID"
else echo '{"verdict": "pass", "findings": []}'; fi
`;

/** A sandbox with an agent and a reviewer that do as the test says, issue by issue. */
export function resumeWorld(review: object = {}, more: object = {}): ResumeWorld {
  const box = sandbox();
  const settings = {
    commands: { check: "test ! -e broken" },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: box.script("agent.sh", agent) },
    max_agents: 2,
    per_issue_review: {
      enabled: true,
      reviewer_type: "command",
      command: box.script("review.sh", reviewer),
      ...review,
    },
    ...more,
  };
  box.configure(settings);
  return {
    ...box,
    settings,
    agentDoes: (issue, shell) => void box.put(`agent-${issue}`, `${shell}\n`),
    reviewerDoes: (issue, shell) => void box.put(`review-${issue}`, `${shell}\n`),
    sent: (issue) => sentTo(join(box.root, "sent", issue)),
  };
}

function sentTo(folder: string): Sent[] {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.map((name) => {
    const whole = readFileSync(join(folder, name), "utf8");
    const [kind = "", session = "", attempt = ""] = whole.slice(0, whole.indexOf("\n")).split(" ");
    return { kind, session, attempt, text: whole.slice(whole.indexOf("\n") + 1) };
  });
}

export interface Remark {
  readonly file?: string;
  readonly line_start?: number;
  readonly line_end?: number;
  readonly priority?: number | null;
  readonly title: string;
  readonly body?: string;
  readonly reviewer?: string;
}

/** Shell of a reviewer that gives this verdict. */
export function says(verdict: "pass" | "fail", ...findings: readonly Remark[]): string {
  const whole = findings.map((one) => ({ file: "a.ts", line_start: 1, line_end: 1, priority: 1, body: "", ...one }));
  return `cat <<'VERDICT'\n${JSON.stringify({ verdict, findings: whole })}\nVERDICT`;
}

export function logLines(world: Sandbox, run: string): string[] {
  return readFileSync(join(world.home, "runs", run, "run.log"), "utf8").split("\n");
}
