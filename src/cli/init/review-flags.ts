import type { ReviewerKind } from "../../core/settings.js";
import { UserError } from "../../lib/errors.js";
import {
  type AgentAnswer,
  type Answers,
  defaultReview,
  type Found,
  type MemberAnswer,
  type ReviewAnswer,
} from "./answers.js";
import { agentToReview } from "./choose-agent.js";
import { suggestName } from "./panel.js";
import { singleReviewers } from "./panel-questions.js";
import { type InitFlags, oneOf, readAgentName, readProgram } from "./read-flag.js";
import { parseWhole, thresholds } from "./review-questions.js";

const kinds = [...singleReviewers, "panel", "none"] as const;
const memberHint = '--review-member "security=agent_sdk:codex" or "style=command:my-reviewer --strict" or "c=cerberus"';

/** null: none is wanted. */
export function readReview(flags: InitFlags, answers: Answers, found: Found): ReviewAnswer | null {
  const type = oneOf("--review", flags.review ?? impliedKind(flags), kinds);
  if (type === "none") return noReview(flags);
  mustFit(flags, type);
  const start = defaultReview(type, agentToReview(answers, found));
  const rounds = flags.maxRetries === undefined ? start.maxRetries : parseWhole(flags.maxRetries);
  if (rounds === null) throw new UserError(`--max-retries ${flags.maxRetries} is not a whole number of 0 or more`);
  return {
    ...start,
    ...readReviewer(flags, { type, agent: start.agent, found }),
    members: readMembers(flags.reviewMember ?? [], answers, found),
    maxRetries: rounds,
    threshold: oneOf("--finding-threshold", flags.findingThreshold ?? start.threshold, thresholds),
  };
}

/** What says how to review, or who, would be dropped without a word. */
function noReview({ reviewMember, reviewAgent, reviewCommand, maxRetries, findingThreshold }: InitFlags): null {
  const given: [string, unknown][] = [
    ["--review-member", reviewMember],
    ["--review-agent", reviewAgent],
    ["--review-command", reviewCommand],
    ["--max-retries", maxRetries],
    ["--finding-threshold", findingThreshold],
  ];
  const [flag] = given.find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw new UserError(`${flag} has no effect with --review none`);
  return null;
}

/** What the other flags name. How to review says nothing of who: nobody gets a reviewer that was not asked for. */
function impliedKind({ reviewMember, reviewAgent, reviewCommand, maxRetries }: InitFlags): ReviewerKind {
  if (reviewMember !== undefined) return "panel";
  if (reviewAgent !== undefined) return "agent_sdk";
  if (reviewCommand !== undefined) return "command";
  throw new UserError(
    `${maxRetries === undefined ? "--finding-threshold" : "--max-retries"} does not say who reviews`,
    {
      hint: 'give --review agent_sdk, --review cerberus or --review-command "program args"',
    },
  );
}

/** What one kind of reviewer needs another one would ignore. */
function mustFit({ reviewCommand, reviewAgent, reviewMember }: InitFlags, type: ReviewerKind): void {
  const misfits: [string, boolean][] = [
    ["--review-member", reviewMember !== undefined && type !== "panel"],
    ["--review-agent", reviewAgent !== undefined && type !== "agent_sdk"],
    ["--review-command", reviewCommand !== undefined && type !== "command" && reviewAgent !== "command"],
  ];
  const [flag] = misfits.find(([, is]) => is) ?? [];
  if (flag !== undefined) throw new UserError(`${flag} has no effect with a review by ${type}`);
  if (type === "panel" && reviewMember === undefined) {
    throw new UserError("a panel needs its members", { hint: memberHint });
  }
}

interface Start {
  readonly type: ReviewerKind;
  readonly agent: AgentAnswer;
  readonly found: Found;
}

function readReviewer(
  { reviewCommand, reviewAgent }: InitFlags,
  { type, agent, found }: Start,
): Pick<ReviewAnswer, "command" | "agent"> {
  const program = reviewCommand === undefined ? [] : readProgram("--review-command", reviewCommand);
  if ((type === "command" || reviewAgent === "command") && program.length === 0) {
    throw new UserError(
      `a review by ${reviewAgent === "command" ? "an agent that is a" : "a"} command needs the program`,
      {
        hint: 'give --review-command "program args"',
      },
    );
  }
  if (reviewAgent === undefined) return { command: program, agent };
  const named = readAgentName("--review-agent", reviewAgent, found);
  return { command: [], agent: named.type === "command" ? { ...named, command: program } : named };
}

function readMembers(texts: readonly string[], answers: Answers, found: Found): MemberAnswer[] {
  const members: MemberAnswer[] = [];
  for (const text of texts) members.push(readMember(text, members, { answers, found }));
  return members;
}

/** `name=type:detail`; the name may be left out. */
function readMember(
  text: string,
  before: readonly MemberAnswer[],
  { answers, found }: { readonly answers: Answers; readonly found: Found },
): MemberAnswer {
  const [, name = "", kind = "", detail] = /^(?:([^=:]*)=)?([^:]*)(?::([\s\S]*))?$/.exec(text) ?? [];
  const type = singleReviewers.find((one) => one === kind.trim());
  if (type === undefined) {
    throw new UserError(`--review-member ${text} does not name one of ${singleReviewers.join(", ")}`, {
      hint: memberHint,
    });
  }
  if (type === "command" && detail === undefined) {
    throw new UserError(`--review-member ${text} does not say which program`, { hint: memberHint });
  }
  if (type === "agent_sdk" && detail?.trim() === "command") {
    throw new UserError(`--review-member ${text} does not say which program`, {
      hint: "an agent that is a program of your own is written into ratchet.yaml: agent_sdk_agent: {type: command, command: […]}",
    });
  }
  const command = type === "command" ? readProgram("--review-member", detail ?? "", text) : [];
  const taken = before.filter((one) => one.type === "agent_sdk").map(({ agent }) => agent);
  const agent =
    type === "agent_sdk" && detail !== undefined
      ? readAgentName("--review-member", detail.trim(), found)
      : agentToReview(answers, found, taken);
  const member = { name: name.trim(), type, command, agent };
  return member.name === "" ? { ...member, name: suggestName(member, before, found) } : member;
}
