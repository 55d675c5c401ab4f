import { type Diagnostic, diagnosticAt, type Remark, valueText } from "./diagnostic.js";
import { isPresetName, presets } from "./presets.js";
import { isMapping, mappingAt, type Path, placeOf, type Source, valueAt } from "./source.js";
import { nearest } from "./suggest.js";
import { trustedRules } from "./trusted.js";

/**
 * What no single key can say of itself. The rules look at the configuration as it was written, so that they are
 * checked together with everything else, also where other parts are wrong.
 */
export const triggerNames = ["session_end", "epic_completion", "run_end", "periodic"] as const;

export function checkRules(source: Source): Diagnostic[] {
  const say: Say = (remark, at = remark.path) => diagnosticAt(placeOf(source, at), remark);
  const { root } = source;
  const names = commandNames(root);
  return [
    ...agentRules(root, say),
    ...commandRules(root, { say, names }),
    ...requiredRules(root, { say, names }),
    ...reviewRules(root, { say, path: ["per_issue_review"] }),
    ...ignoredBaseline(root, { say, path: ["per_issue_review"] }),
    ...triggerNames.flatMap((name) => triggerRules(root, { say, names, path: ["validation_triggers", name] })),
    ...ignoredBaseline(root, { say, path: ["validation_triggers", "session_end", "code_review"] }),
    ...sessionEndReviewRules(root, say),
    ...trustedRules(root, say),
  ];
}

type Say = (remark: Remark, at?: Path) => Diagnostic;
interface Names {
  readonly known: readonly string[];
  readonly off: readonly string[];
}

function commandNames(root: unknown): Names {
  const { preset } = mappingAt(root, []);
  const written = mappingAt(root, ["commands"]);
  const named = [...Object.keys(isPresetName(preset) ? presets[preset] : {}), ...Object.keys(written)];
  // An empty name is refused by the schema: nobody means it.
  const all = named.filter((name) => name !== "");
  const isOff = (name: string): boolean => Object.hasOwn(written, name) && written[name] === null;
  return { known: all.filter((name) => !isOff(name)), off: all.filter(isOff) };
}

function agentRules(root: unknown, say: Say): Diagnostic[] {
  const { type, script, command, fallback } = mappingAt(root, ["agent"]);
  const found = namedProgram({ type, command }, { say, path: ["agent"] });
  if (isMapping(fallback)) found.push(...otherProgram(root, { say, path: ["agent", "fallback"] }));
  const other = isMapping(fallback) ? fallback.type : fallback;
  if (other === "scripted") found.push(...scriptFor(root, { say, path: ["agent", "fallback"] }));
  if (fallback === "acp" || fallback === "command") {
    const message = `expected a section with type: ${fallback} and its command, found only the type`;
    found.push(say({ path: ["agent", "fallback"], message }));
  }
  if (found.length > 0) return found;
  if (type === "scripted" && (script === undefined || script === null)) {
    return [
      say({ path: ["agent", "script"], message: "expected the path of a script with type: scripted, found nothing" }),
    ];
  }
  return [];
}

/** Only these two are nothing without a program. */
function namedProgram(
  agent: { readonly type: unknown; readonly command: unknown },
  { say, path }: Where,
): Diagnostic[] {
  const { type, command } = agent;
  const isEmpty = command === undefined || command === null || (Array.isArray(command) && isBlank(command[0]));
  if ((type !== "command" && type !== "acp") || !isEmpty) return [];
  const message = `expected a program and its arguments with type: ${type}, found ${valueText(command)}`;
  return [say({ path: [...path, "command"], message })];
}

/** An agent that is named besides `agent`: of the same type, it has the same program. */
function otherProgram(root: unknown, where: Where): Diagnostic[] {
  const { type, command } = mappingAt(root, where.path);
  return mappingAt(root, ["agent"]).type === type ? [] : namedProgram({ type, command }, where);
}

/** A program that implements issues is no reviewer because nobody has named another one. */
function reviewingAgent(root: unknown, { say, path: section }: Where): Diagnostic[] {
  const path = [...section, "agent_sdk_agent"];
  const { type, command } = mappingAt(root, path);
  if (type === "command") return namedProgram({ type, command }, { say, path });
  if (type === "scripted") return scriptFor(root, { say, path: [...path, "type"] });
  return otherProgram(root, { say, path });
}

/** There is one script, and it is the agent's. */
function scriptFor(root: unknown, { say, path }: Where): Diagnostic[] {
  const { type, script } = mappingAt(root, ["agent"]);
  // Where the agent itself lacks it that is told of the agent.
  if (type === "scripted" || (script !== undefined && script !== null)) return [];
  return [say({ path, message: "expected the path of a script in agent.script with type: scripted, found nothing" })];
}

function isBlank(word: unknown): boolean {
  return word === undefined || (typeof word === "string" && word.trim() === "");
}

function commandRules(root: unknown, { say, names }: { say: Say; names: Names }): Diagnostic[] {
  const { preset } = mappingAt(root, []);
  const ready: object = isPresetName(preset) ? presets[preset] : {};
  return names.known.flatMap((name) => {
    const written = valueAt(root, ["commands", name]);
    if (!isMapping(written) || written.command !== undefined || Object.hasOwn(ready, name)) return [];
    return [say({ path: ["commands", name, "command"], message: "expected a command line, found nothing" })];
  });
}

function requiredRules(root: unknown, { say, names }: { say: Say; names: Names }): Diagnostic[] {
  const path = ["evidence_check", "required"];
  return listAt(root, path).flatMap((name, index) =>
    typeof name === "string" ? unknownCommand(name, { say, names, path: [...path, index] }) : [],
  );
}

interface Where {
  readonly say: Say;
  readonly path: Path;
}

function unknownCommand(name: string, { say, names, path }: Where & { names: Names }): Diagnostic[] {
  if (names.known.includes(name) || name === "") return [];
  if (names.off.includes(name)) {
    return [say({ path, message: `expected the name of a command, found ${name}, which is switched off (null)` })];
  }
  const near = nearest(name, names.known);
  const known = names.known.length === 0 ? "there are no commands" : `the commands are ${names.known.join(", ")}`;
  const hint = near === null ? undefined : `did you mean ${near}?`;
  return [say({ path, message: `expected the name of a command, found ${valueText(name)} (${known})`, hint })];
}

function triggerRules(root: unknown, { say, names, path }: Where & { names: Names }): Diagnostic[] {
  const section = valueAt(root, path);
  if (!isMapping(section)) return [];
  const found = reviewRules(root, { say, path: [...path, "code_review"] });
  if (section.failure_mode === "remediate" && (section.max_retries === undefined || section.max_retries === null)) {
    const message = "expected a whole number of 0 or more with failure_mode: remediate, found nothing";
    found.push(say({ path: [...path, "max_retries"], message }, [...path, "failure_mode"]));
  }
  for (const [index, entry] of listAt(root, [...path, "commands"]).entries()) {
    const at = [...path, "commands", index];
    if (typeof entry === "string") found.push(...unknownCommand(entry, { say, names, path: at }));
    if (!isMapping(entry) || entry.command !== undefined || typeof entry.ref !== "string") continue;
    found.push(...unknownCommand(entry.ref, { say, names, path: [...at, "ref"] }));
  }
  const { commands = [], code_review: review = {} } = section;
  // What cannot be read is told as that.
  const isReadable = Array.isArray(commands) && (isMapping(review) || review === null);
  const hasReview = mappingAt(section, ["code_review"]).enabled === true;
  if (isReadable && commands.length === 0 && !hasReview) {
    found.push(
      say({ path, message: "does nothing: it has no commands and no enabled code_review", severity: "warning" }),
    );
  }
  return found;
}

function reviewRules(root: unknown, { say, path }: Where): Diagnostic[] {
  const section = mappingAt(root, path);
  const found = panelNames(section, { say, path });
  if (section.enabled !== true) return found;
  if (section.reviewer_type === "command") found.push(...reviewerCommand(section.command, { say, path }));
  if (section.reviewer_type === "agent_sdk") found.push(...reviewingAgent(root, { say, path }));
  if (section.reviewer_type !== "panel") return found;
  const panel = listAt(section, ["panel"]);
  if (panel.length === 0) {
    const message = `expected at least one reviewer with reviewer_type: panel, found ${valueText(section.panel)}`;
    found.push(say({ path: [...path, "panel"], message }));
  }
  for (const [index, member] of panel.entries()) {
    const at = [...path, "panel", index];
    if (!isMapping(member)) continue;
    if (member.reviewer_type === "command") found.push(...reviewerCommand(member.command, { say, path: at }));
    if (member.reviewer_type === "agent_sdk") found.push(...reviewingAgent(root, { say, path: at }));
  }
  return found;
}

function reviewerCommand(command: unknown, { say, path }: Where): Diagnostic[] {
  const isMissing = command === undefined || (Array.isArray(command) && isBlank(command[0]));
  if (!isMissing) return [];
  const message = `expected a program and its arguments with reviewer_type: command, found ${valueText(command)}`;
  return [say({ path: [...path, "command"], message })];
}

/** A member without a name is called after its kind and position; no two may be called the same. */
function panelNames(section: unknown, { say, path }: Where): Diagnostic[] {
  const seen = new Map<string, number>();
  return listAt(section, ["panel"]).flatMap((member, index) => {
    if (!isMapping(member)) return [];
    const name = member.name ?? `${String(member.reviewer_type)}-${index + 1}`;
    if (typeof name !== "string") return [];
    const earlier = seen.get(name);
    seen.set(name, earlier ?? index);
    if (earlier === undefined) return [];
    const message = `expected a name of its own, found ${valueText(name)}, the name of panel[${earlier}]`;
    return [say({ path: [...path, "panel", index, "name"], message })];
  });
}

function ignoredBaseline(root: unknown, { say, path }: Where): Diagnostic[] {
  const at = [...path, "baseline"];
  const value = valueAt(root, at);
  if (value === undefined || value === null) return [];
  return [
    say({ path: at, message: "ignored here: the review always starts at the issue's base", severity: "warning" }),
  ];
}

function sessionEndReviewRules(root: unknown, say: Say): Diagnostic[] {
  const path = ["validation_triggers", "session_end", "code_review"];
  return ["failure_mode", "max_retries"]
    .filter((key) => valueAt(root, [...path, key]) !== undefined)
    .map((key) => say({ path: [...path, key], message: `not allowed here: ${key} of session_end itself counts` }));
}

function listAt(root: unknown, path: Path): readonly unknown[] {
  const value = valueAt(root, path);
  return Array.isArray(value) ? value : [];
}
