import type { Issue, Pull, State } from "./state.js";

export function newIssue(
  state: State,
  made: { readonly author: string; readonly title: string; readonly body: string | null; readonly pull: Pull | null },
): Issue {
  const number = state.nextNumber();
  const at = state.time();
  const times = { createdAt: at, updatedAt: at, closedAt: null };
  const rest = { state: "open", stateReason: null, labels: [], assignees: [] } as const;
  const issue: Issue = { ...made, ...times, ...rest, labels: [], assignees: [], number, id: state.nextId() };
  state.repo.issues.set(number, issue);
  return issue;
}

export function closeIssue(state: State, issue: Issue, reason: string | null): void {
  const at = state.time();
  Object.assign(issue, { state: "closed", stateReason: reason, closedAt: at, updatedAt: at });
}
