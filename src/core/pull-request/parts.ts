import type { Looked } from "./events.js";
import { checkId, conflictId, ownId } from "./intake.js";
import type { Delivery } from "./state.js";
import type { PrStep } from "./step.js";

/** What waits and whose words are there: what this look could not fetch stays for later. */
export function readyParts({ state }: PrStep, looked: Looked): [string, Delivery][] {
  const there = new Set([
    ...looked.remarks.map(({ id }) => id),
    ...looked.checks.map(checkId),
    ...looked.items.flatMap(({ id, verdict }) => verdict?.findings.map((_, index) => ownId(id, index)) ?? []),
    conflictId(looked.pullRequest.head),
  ]);
  return Object.entries(state.deliveries).filter(
    ([id, { status, words }]) => status === "waiting" && (there.has(id) || words !== undefined),
  );
}

/** A person's own words go along like a remark; the same ones that are on their way already are those. */
function say(step: PrStep, words: string): void {
  const said = Object.values(step.state.deliveries).filter((one) => one.words !== undefined);
  const isOpen = ({ status }: Delivery) => status === "waiting" || status === "delivered";
  if (said.some((one) => one.words === words && isOpen(one))) return;
  step.deliver(`said:${said.length + 1}`, { status: "waiting", cause: true, words });
}

/** What a person has asked for may be forgotten from here on, what was said with it may not. */
export function keepWords(step: PrStep): void {
  const { wanted } = step.state;
  if (!wanted?.feedback) return;
  say(step, wanted.feedback);
  step.set({ wanted: { ...wanted, feedback: null } });
}

export function wordsIn(parts: readonly (readonly [string, Delivery])[]): string | null {
  const words = parts.flatMap(([, one]) => one.words ?? []);
  return words.length === 0 ? null : words.join("\n\n");
}

/** What a cycle is about, in a line. */
export function causeOf(parts: readonly string[], { remarks, checks }: Looked, baseBranch: string): string {
  const along = new Set(parts);
  const said = remarks.filter(({ id }) => along.has(id));
  const asking = said.filter(({ verdict }) => verdict === "changes_requested");
  const who = [...new Set(asking.map(({ login }) => login ?? "unknown"))].join(", ");
  const others = said.length - asking.length;
  const failing = [...new Set(checks.filter((one) => along.has(checkId(one))).map(({ name }) => name))].join(", ");
  const what = [
    asking.length === 0 ? "" : `changes requested by ${who}`,
    others === 0 ? "" : others === 1 ? "a comment" : `${others} comments`,
    parts.some((id) => id.startsWith("own:")) ? "changes requested by Ratchet's reviewer" : "",
    failing === "" ? "" : `failing: ${failing}`,
    parts.some((id) => id.startsWith("conflict@")) ? `conflict with ${baseBranch}` : "",
  ].filter((text) => text !== "");
  return what.length === 0 ? "asked for by a person" : what.join("; ");
}
