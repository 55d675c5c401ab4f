import { triggerNames } from "../../config/rules.js";
import { type Answers, defaultTrigger, type TriggerAnswer, type TriggerName } from "./answers.js";
import { judging } from "./judging.js";
import type { Question, QuestionOf } from "./question.js";
import { parseWhole } from "./review-questions.js";

const topic = "triggers";

const moments: Readonly<Record<TriggerName, string>> = {
  session_end: "after each issue's gate, before its review",
  epic_completion: "when all issues of an epic are finished",
  run_end: "once, when every issue of a run is finished",
  periodic: "after every so many finished issues",
};

const which: QuestionOf<"some"> = {
  kind: "some",
  id: "triggers",
  topic,
  prompt: (answers, { triggers }) => {
    if (triggers.length === 0 || (judging(answers).length === 0 && answers.review === null)) return null;
    return {
      message: "When should checks run besides the gate?",
      options: triggers.map((name) => ({ value: name, label: name, hint: moments[name] })),
      initial: answers.triggers.map(({ name }) => name),
    };
  },
  take: (answers, chosen, { triggers }) => ({
    ...answers,
    triggers: triggers
      .filter((name) => chosen.includes(name))
      .map((name) => triggerIn(answers, name) ?? defaultTrigger(name, answers.required)),
  }),
};

function triggerIn({ triggers }: Answers, name: TriggerName): TriggerAnswer | undefined {
  return triggers.find((trigger) => trigger.name === name);
}

function change(answers: Answers, name: TriggerName, patch: Partial<TriggerAnswer>): Answers {
  const triggers = answers.triggers.map((trigger) => (trigger.name === name ? { ...trigger, ...patch } : trigger));
  return { ...answers, triggers };
}

function commandsOf(name: TriggerName): QuestionOf<"some"> {
  return {
    kind: "some",
    id: `${name}-commands`,
    topic,
    prompt: (answers) => {
      const trigger = triggerIn(answers, name);
      const names = judging(answers);
      if (trigger === undefined || names.length === 0) return null;
      const options = names.map((value) => ({ value, label: value, hint: answers.commands[value] ?? "" }));
      return { message: `Which commands at ${name}?`, options, initial: trigger.commands };
    },
    take: (answers, commands) => change(answers, name, { commands }),
  };
}

export const failureModes = ["continue", "remediate", "abort"] as const;
const failureHints = {
  continue: "it is noted and goes on",
  remediate: "a fixer is sent, then all commands run again",
  abort: "the whole run ends",
} as const;

function failureModeOf(name: TriggerName): QuestionOf<"one"> {
  return {
    kind: "one",
    id: `${name}-failure-mode`,
    topic,
    prompt: (answers) => {
      const trigger = triggerIn(answers, name);
      if (trigger === undefined) return null;
      const options = failureModes.map((value) => ({ value, label: value, hint: failureHints[value] }));
      return { message: `What happens when ${name} fails?`, options, initial: trigger.failureMode };
    },
    take: (answers, value) => {
      const failureMode = failureModes.find((mode) => mode === value);
      return failureMode === undefined ? answers : change(answers, name, { failureMode });
    },
  };
}

function retriesOf(name: TriggerName): QuestionOf<"text"> {
  return {
    kind: "text",
    id: `${name}-max-retries`,
    topic,
    prompt: (answers) => {
      const trigger = triggerIn(answers, name);
      if (trigger?.failureMode !== "remediate") return null;
      return {
        message: `How many fixers may ${name} send?`,
        initial: String(trigger.maxRetries),
        check: (text) => (parseWhole(text) === null ? "a whole number of 0 or more" : null),
      };
    },
    take: (answers, value) => change(answers, name, { maxRetries: parseWhole(value) ?? 1 }),
  };
}

const interval: QuestionOf<"text"> = {
  kind: "text",
  id: "periodic-interval",
  topic,
  prompt: (answers) => {
    const trigger = triggerIn(answers, "periodic");
    if (trigger === undefined) return null;
    return {
      message: "After how many finished issues does periodic run?",
      initial: String(trigger.interval),
      check: (text) => ((parseWhole(text) ?? 0) < 1 ? "a whole number of 1 or more" : null),
    };
  },
  take: (answers, value) => change(answers, "periodic", { interval: parseWhole(value) ?? 5 }),
};

export const fireOns = ["success", "failure", "both"] as const;
export const depths = ["top_level", "all"] as const;
const depthHints = { top_level: "epics that are in no other epic", all: "epics within epics too" } as const;
const fireHints = {
  run_end: { success: "when an issue succeeded", failure: "when an issue failed", both: "always" },
  epic_completion: {
    success: "when an epic is completed",
    failure: "when nothing is left of it but what failed",
    both: "either way",
  },
} as const;

function fireOnOf(name: "run_end" | "epic_completion"): QuestionOf<"one"> {
  return {
    kind: "one",
    id: `${name}-fire-on`,
    topic,
    prompt: (answers) => {
      const trigger = triggerIn(answers, name);
      if (trigger === undefined) return null;
      const options = fireOns.map((value) => ({ value, label: value, hint: fireHints[name][value] }));
      return { message: `On what does ${name} run?`, options, initial: trigger.fireOn };
    },
    take: (answers, value) => {
      const fireOn = fireOns.find((one) => one === value);
      return fireOn === undefined ? answers : change(answers, name, { fireOn });
    },
  };
}

const epicDepth: QuestionOf<"one"> = {
  kind: "one",
  id: "epic_completion-depth",
  topic,
  prompt: (answers) => {
    const trigger = triggerIn(answers, "epic_completion");
    if (trigger === undefined) return null;
    const options = depths.map((value) => ({ value, label: value, hint: depthHints[value] }));
    return { message: "Which epics count for epic_completion?", options, initial: trigger.epicDepth };
  },
  take: (answers, value) => {
    const depth = depths.find((one) => one === value);
    return depth === undefined ? answers : change(answers, "epic_completion", { epicDepth: depth });
  },
};

function codeReviewOf(name: TriggerName): QuestionOf<"confirm"> {
  return {
    kind: "confirm",
    id: `${name}-review`,
    topic,
    prompt: (answers, { triggerReviews }) => {
      const trigger = triggerIn(answers, name);
      if (trigger === undefined || answers.review === null || !triggerReviews) return null;
      return { message: `A review at ${name} too, by the same reviewer?`, initial: trigger.codeReview };
    },
    take: (answers, codeReview) => change(answers, name, { codeReview }),
  };
}

export const triggerQuestions: readonly Question[] = [
  which,
  ...triggerNames.flatMap((name): Question[] => [
    ...(name === "periodic" ? [interval] : []),
    ...(name === "run_end" || name === "epic_completion" ? [fireOnOf(name)] : []),
    ...(name === "epic_completion" ? [epicDepth] : []),
    commandsOf(name),
    failureModeOf(name),
    retriesOf(name),
    codeReviewOf(name),
  ]),
];
