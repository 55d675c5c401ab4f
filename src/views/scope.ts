import type { Scope } from "../core/ports/tracker.js";

/** `ancestors`: its parent, the parent's parent, and so on. */
export function isInScope(scope: Scope, issueId: string, ancestors: readonly string[]): boolean {
  switch (scope.type) {
    case "all":
      return true;
    case "orphans":
      return ancestors.length === 0;
    case "ids":
      return scope.ids.includes(issueId);
    case "epic":
      return issueId === scope.epic || ancestors.includes(scope.epic);
  }
}

/** As it is said of an issue. */
export function nameScope(scope: Scope): string {
  switch (scope.type) {
    case "all":
      return "in the project";
    case "orphans":
      return "without an epic";
    case "ids":
      return `among ${scope.ids.join(", ")}`;
    case "epic":
      return `in epic ${scope.epic}`;
  }
}
