import { triggerNames } from "../../config/rules.js";
import { UserError } from "../../lib/errors.js";
import { defaultTrigger, type TriggerAnswer, type TriggerName } from "./answers.js";
import { namesIn, oneOf } from "./read-flag.js";
import { parseWhole } from "./review-questions.js";
import { depths, failureModes, fireOns } from "./trigger-questions.js";

export function readTriggers(triggers: readonly string[], options: readonly string[]): TriggerAnswer[] {
  const read = options.reduce(applyOption, triggers.map(readTrigger));
  for (const { name, commands, codeReview, failureMode } of read) {
    if (commands.length === 0 && !codeReview) {
      throw new UserError(`--trigger ${name} has no effect: it names no commands, and no review`, {
        hint: `--trigger ${name}=test or --trigger-option ${name}.code_review=true`,
      });
    }
    if (failureMode === "remediate" || !options.some((option) => option.startsWith(`${name}.max_retries=`))) continue;
    throw new UserError(`max_retries of ${name} has no effect: only a fixer tries again`, {
      hint: `--trigger-option ${name}.failure_mode=remediate`,
    });
  }
  return read;
}

function readTrigger(text: string): TriggerAnswer {
  const [kind = "", list = ""] = text.split("=", 2);
  const name = triggerNames.find((one) => one === kind.trim());
  if (name !== undefined) return defaultTrigger(name, namesIn(list));
  throw new UserError(`--trigger ${text} does not name one of ${triggerNames.join(", ")}`, {
    hint: "--trigger session_end=test,lint",
  });
}

type Read = (value: string, option: string) => Partial<TriggerAnswer>;
interface Key {
  readonly of: readonly TriggerName[];
  readonly read: Read;
}

/** By the name of the setting. */
const keys: Readonly<Record<string, Key>> = {
  failure_mode: { of: triggerNames, read: (value, option) => ({ failureMode: oneOf(option, value, failureModes) }) },
  max_retries: { of: triggerNames, read: (value, option) => ({ maxRetries: numberIn(value, option, 0) }) },
  code_review: {
    of: triggerNames,
    read: (value, option) => ({ codeReview: oneOf(option, value, ["true", "false"]) === "true" }),
  },
  fire_on: {
    of: ["run_end", "epic_completion"],
    read: (value, option) => ({ fireOn: oneOf(option, value, fireOns) }),
  },
  epic_depth: { of: ["epic_completion"], read: (value, option) => ({ epicDepth: oneOf(option, value, depths) }) },
  interval: { of: ["periodic"], read: (value, option) => ({ interval: numberIn(value, option, 1) }) },
};

function applyOption(triggers: readonly TriggerAnswer[], text: string): TriggerAnswer[] {
  const [, name = "", key = "", value = ""] = /^([^.=]*)\.([^=]*)=([\s\S]*)$/.exec(text) ?? [];
  const known = Object.hasOwn(keys, key) ? keys[key] : undefined;
  if (known === undefined) {
    throw new UserError(`--trigger-option ${text} does not name one of ${Object.keys(keys).join(", ")}`, {
      hint: "--trigger-option run_end.fire_on=both",
    });
  }
  if (!triggers.some((trigger) => trigger.name === name)) {
    throw new UserError(`--trigger-option ${text}: there is no --trigger ${name}`, {
      hint: `--trigger ${name || "run_end"}=test`,
    });
  }
  if (!known.of.some((one) => one === name)) {
    throw new UserError(`--trigger-option ${text}: ${key} belongs to ${known.of.join(" and ")}`);
  }
  const patch = known.read(value.trim(), `--trigger-option ${name}.${key}`);
  return triggers.map((trigger) => (trigger.name === name ? { ...trigger, ...patch } : trigger));
}

function numberIn(value: string, option: string, least: number): number {
  const number = parseWhole(value);
  if (number !== null && number >= least) return number;
  throw new UserError(`${option} ${value} is not a whole number of ${least} or more`);
}
