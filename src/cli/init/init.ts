import { existsSync, realpathSync } from "node:fs";
import { cpus, freemem } from "node:os";
import { basename, join, relative, sep } from "node:path";
import { checkConfigText } from "../../config/check.js";
import type { Diagnostic } from "../../config/diagnostic.js";
import { UserError } from "../../lib/errors.js";
import { insideGit } from "../../lib/inside-git.js";
import { type Context, findRoot } from "../context.js";
import { type Answers, type Found, placeholderAgent } from "./answers.js";
import { isSameAgent } from "./choose-agent.js";
import { detect } from "./detect.js";
import { type Given, readFlags } from "./flags.js";
import { planConfig } from "./plan.js";
import { agentRemark } from "./questions.js";
import type { InitFlags } from "./read-flag.js";
import { renderConfig } from "./render.js";
import { shortPath } from "./short-path.js";
import { joinWords } from "./split-words.js";
import { brokenPackage } from "./stacks.js";
import { writeWithBackup } from "./write.js";

/** `ratchet init`: what is found, given and answered becomes a ratchet.yaml that holds; otherwise nothing is written. */
export async function initProject(context: Context, flags: InitFlags): Promise<number> {
  const root = findRoot(context.cwd);
  if (root !== null && relative(root, realpathSync(context.cwd)).split(sep)[0] === ".git") throw insideGit(context.cwd);
  const dir = root ?? context.cwd;
  if (root === null) context.out.note(`${dir} is not in a git repository: run git init before ratchet run`);
  const file = join(dir, "ratchet.yaml");
  const found = await detect(dir, context);
  const given = readFlags(flags, found);
  if (flags.yes !== true && isAtTerminal(context, flags)) {
    const { runWizard } = await import("./wizard.js");
    return await runWizard(context, { file, found, given, toText: (answers) => toCheckedText(answers, found, dir) });
  }
  if (flags.yes !== true) mustBeEnough(given, found, whyUnasked(context.env, flags));
  mustBeReviewed(given.answers);
  const text = toCheckedText(given.answers, found, dir);
  const backup = await writeWithBackup(file, text);
  if (flags.json === true) context.out.json({ file, backup, written: true });
  else tellWritten(context, { file, backup, remarks: remarksOn(given, found, dir) });
  return 0;
}

/** Asking needs somebody who sees the question and can type. */
function isAtTerminal({ out }: Context, { json }: InitFlags): boolean {
  return json !== true && out.isTerminal && process.stdin.isTTY === true;
}

function whyUnasked(env: NodeJS.ProcessEnv, { json }: InitFlags): string {
  if (json === true) return "--json is given";
  if (!process.stdout.isTTY || !process.stdin.isTTY) return "this is not a terminal";
  return env.CI ? "CI is set" : "TERM is dumb";
}

function mustBeEnough({ answers, topics }: Given, found: Found, why: string): void {
  if (topics.has("preset") && topics.has("agent")) return;
  const { preset, agent, commands } = answers;
  const names = Object.keys(commands).join(", ") || "none";
  const seen = `preset ${preset ?? "none"}, agent ${joinWords([agent.type, ...agent.command])}, commands ${names}`;
  const remark = agentRemark(found);
  throw new UserError(`${why}, so nothing can be asked`, {
    hint: [
      'give --preset and --agent-command "program args" (or --agent), or --yes to take what was found:',
      `${seen}${remark === null ? "" : `\n${remark}`}`,
      "ratchet init --help lists the flags for everything else",
    ].join("\n"),
    code: "no-terminal",
  });
}

/** A trigger's review is done by the reviewer of each issue's. */
function mustBeReviewed({ review, triggers }: Answers): void {
  const asking = triggers.find(({ codeReview }) => codeReview);
  if (review !== null || asking === undefined) return;
  throw new UserError(`code_review of ${asking.name} needs a reviewer`, { hint: "give --review" });
}

/** The text, if it passes the same check as `ratchet config check`; the environment is not the file's business. */
function toCheckedText(answers: Answers, found: Found, dir: string): string {
  const text = renderConfig(planConfig(answers, found));
  const machine = { cores: cpus().length, freeMemoryBytes: freemem() };
  const checked = checkConfigText(text, "ratchet.yaml", { dir, env: {}, flags: {}, machine });
  if (!checked.ok) throw notWritten(checked.diagnostics);
  return text;
}

/** A file that is not there has no lines: what was typed is named instead. */
function notWritten(diagnostics: readonly Diagnostic[]): UserError {
  const said = diagnostics.map(({ key, message }) => `${flagFor(key)}${message} (${key})`);
  const hints = diagnostics.flatMap(({ hint }) => hint ?? []);
  return new UserError(said.join("\n"), { code: "config", hint: [...hints, "nothing was written"].join("\n") });
}

const flagsOfSettings: readonly (readonly [RegExp, string])[] = [
  [/^evidence_check\.required\b/, "--required"],
  [/^validation_triggers\b/, "--trigger"],
  [/^commands\b/, "--command"],
  [/^per_issue_review\.panel\b/, "--review-member"],
  [/^per_issue_review\b/, "--review"],
  [/^agent\b/, "--agent-command"],
];

function flagFor(key: string): string {
  const [, flag] = flagsOfSettings.find(([setting]) => setting.test(key)) ?? [];
  return flag === undefined ? "" : `${flag}: `;
}

function remarksOn({ answers }: Given, found: Found, dir: string): string[] {
  const remarks: string[] = [];
  if (found.stacks.length > 1 && found.stacks.some(({ preset }) => preset === answers.preset)) {
    const others = found.stacks.filter(({ preset }) => preset !== answers.preset);
    remarks.push(`${others.map((one) => one.file).join(", ")} is there too: add its commands if the gate needs them`);
  }
  if (answers.agent === placeholderAgent) {
    remarks.push(agentRemark(found) ?? "no agent was found on PATH");
    remarks.push("put your agent into agent.command before the first run");
  }
  remarks.push(...missingAgents(answers, found));
  if (answers.preset === "node-npm" && found.candidates["node-npm"].some(({ why }) => why === brokenPackage)) {
    remarks.push(`${brokenPackage}: its scripts could not be read; mend it, then run init again`);
  }
  if (answers.required.length === 0) remarks.push("no command has to pass yet: see evidence_check");
  if (existsSync(join(dir, "mala.yaml"))) remarks.push("mala.yaml is no longer read now that there is a ratchet.yaml");
  return remarks;
}

/** Those that the file names and PATH does not have. */
function missingAgents({ agent, review }: Answers, found: Found): string[] {
  const reviewers = review?.type === "panel" ? review.members : review === null ? [] : [review];
  const reviewing = reviewers.filter(({ type }) => type === "agent_sdk").map((one) => one.agent);
  const missing = found.agents.filter(
    (one) => !one.isOnPath && [agent, ...reviewing].some((used) => isSameAgent(one, used)),
  );
  return missing.map(({ program }) => `${program} is not on PATH: install it before the first run`);
}

interface Written {
  readonly file: string;
  readonly backup: string | null;
  readonly remarks: readonly string[];
}

function tellWritten({ cwd, out }: Context, { file, backup, remarks }: Written): void {
  for (const remark of remarks) out.note(`note: ${remark}`);
  out.line(`wrote ${shortPath(cwd, file)}`);
  if (backup !== null) out.line(`the earlier one is kept as ${basename(backup)}`);
  out.line('next: ratchet doctor, then ratchet work add "what to do" and ratchet run');
}
