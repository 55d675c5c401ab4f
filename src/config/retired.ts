import { type Diagnostic, diagnosticAt } from "./diagnostic.js";
import { placeOf, type Source } from "./source.js";

/** Keys of earlier systems that have a new home, and the words that lead there. */
const retired: Readonly<Record<string, string>> = {
  global_validation_commands:
    "global_validation_commands is deprecated. Migrate to validation_triggers.run_end:\n\n" +
    "validation_triggers:\n" +
    "  run_end:\n" +
    "    failure_mode: continue\n" +
    "    commands:\n" +
    "      - ref: test\n" +
    "      - ref: lint\n",
  custom_commands:
    "custom_commands is deprecated. Define them under commands:\n\n" +
    "commands:\n" +
    "  my_check:\n" +
    "    command: ./my-check.sh\n" +
    "    timeout: 120\n",
  validate_every:
    "validate_every is deprecated. Use validation_triggers.periodic with interval:\n\n" +
    "validation_triggers:\n" +
    "  periodic:\n" +
    "    interval: 5\n" +
    "    failure_mode: continue\n" +
    "    commands:\n" +
    "      - ref: test\n",
};

/** Takes the retired keys out of the source, each with its own error in place of "unknown key". */
export function rejectRetired(source: Source): Diagnostic[] {
  return Object.entries(retired)
    .filter(([key]) => Object.hasOwn(source.root, key))
    .map(([key, message]) => {
      delete source.root[key];
      return diagnosticAt(placeOf(source, [key], "key"), { path: [key], message });
    });
}
