import type { Expression } from "../expression/expression.js";
import type { Transition } from "../graph.js";

/**
 * Which way leads on. A condition that holds comes before everything else; a stage's own wish counts only among ways
 * without a condition; a condition that does not hold is never taken.
 */
export interface Choice {
  /** The stage's ways, best first. */
  readonly ways: readonly Transition[];
  readonly holds: (when: Expression) => boolean;
  readonly preferredLabel: string | null;
  readonly nextIds: readonly string[];
}

export function selectWay(choice: Choice): Transition | null {
  return conditionThatHolds(choice) ?? wish(choice) ?? choice.ways.find(isPlain) ?? null;
}

/** The way of a stage that failed: one whose condition holds, or a plain one to a decision, which looks at what happened. */
export function selectAfterFailure(
  choice: Pick<Choice, "ways" | "holds">,
  isDecision: (stage: string) => boolean,
): Transition | null {
  return conditionThatHolds(choice) ?? choice.ways.find((way) => isPlain(way) && isDecision(way.to.name)) ?? null;
}

function conditionThatHolds({ ways, holds }: Pick<Choice, "ways" | "holds">): Transition | null {
  return ways.find((way) => way.when !== null && !isPlain(way) && holds(way.when)) ?? null;
}

function wish({ ways, preferredLabel, nextIds }: Choice): Transition | null {
  const plain = ways.filter(isPlain);
  const label = preferredLabel === null ? "" : normaliseLabel(preferredLabel);
  const labelled = label === "" ? undefined : plain.find((way) => normaliseLabel(way.label ?? "") === label);
  if (labelled) return labelled;
  for (const id of nextIds) {
    const way = plain.find(({ to }) => to.name === id);
    if (way) return way;
  }
  return null;
}

/** `when="true"` is no condition: it comes after every match. */
function isPlain({ when }: Transition): boolean {
  return when === null || (when.type === "literal" && when.value === true);
}

/** Case, space and a key in front (`[Y] Yes`, `Y) Yes`, `Y - Yes`) do not make a label another one. */
function normaliseLabel(label: string): string {
  return label
    .trim()
    .toLowerCase()
    .replace(/^(\[\w+\]|\w+\)|\w\s+-)\s+/, "")
    .trim();
}
