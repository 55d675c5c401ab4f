import type { Settings } from "../core/settings.js";
import { type Diagnostic, diagnosticAt } from "./diagnostic.js";
import { reviewerSource } from "./reviewer.js";
import { triggerNames } from "./rules.js";
import { reviewerKeyNames } from "./schema/review.js";
import { mappingAt, placeOf, type Source } from "./source.js";

/** A trigger's reviewer settings act only where that trigger is the one that chooses the reviewer. */
export function noteUnusedReviewers(source: Source, settings: Settings): Diagnostic[] {
  const chosen = reviewerSource(settings).section;
  return triggerNames.flatMap((name) => {
    const path = ["validation_triggers", name, "code_review"];
    const section = mappingAt(source.root, path);
    const keys = reviewerKeyNames.filter((key) => Object.hasOwn(section, key));
    if (settings.validation_triggers[name]?.code_review?.enabled !== true) return [];
    if (chosen === `validation_triggers.${name}` || keys.length === 0) return [];
    const message = `the reviewer is chosen by ${chosen}; ${keys.join(", ")} here have no effect`;
    return [diagnosticAt(placeOf(source, path, "key"), { path, message, severity: "info" })];
  });
}
