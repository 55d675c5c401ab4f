/**
 * What people call a human gate that is open. Its exact name is that of no other gate that is open at the same time: the
 * run, the issue, the stages that called its workflow, its own stage. Anything shorter will do while it means one gate.
 */
interface Gate {
  /** Whose workflow it is; null: the run's own. */
  readonly issueId: string | null;
  /** The stages that called the workflow, outermost first; absent: none did. */
  readonly calls?: readonly string[];
  readonly stage: string;
}
interface AskedGate {
  readonly runId: string;
  readonly question: Gate;
}

/** Its name within its run. */
export function gateName({ issueId, calls = [], stage }: Gate): string {
  return [...(issueId === null ? [] : [issueId]), ...calls, stage].join("/");
}

export function exactGateName({ runId, question }: AskedGate): string {
  return `${runId}/${gateName(question)}`;
}

/** Every gate that a name may mean. A stage's own name is never exact: one of several would be answered by chance. */
export function gatesMeant<T extends AskedGate>(asked: readonly T[], name: string): T[] {
  const exact = asked.filter((one) => exactGateName(one) === name);
  if (exact.length > 0) return exact;
  const within = asked.filter(({ question }) => gateName(question) === name && question.stage !== name);
  return within.length > 0 ? within : asked.filter((one) => isMeant(one, name));
}

function isMeant({ runId, question }: AskedGate, name: string): boolean {
  const { stage, issueId } = question;
  const whole = `${runId}/${gateName(question)}`;
  if (name === stage || whole.endsWith(`/${name}`)) return true;
  const [run = "", ...rest] = name.split("/");
  if (run !== "" && runId.startsWith(run) && [gateName(question), stage].includes(rest.join("/"))) return true;
  return issueId !== null && [`${issueId}/${stage}`, `${runId}/${issueId}/${stage}`].includes(name);
}
