import { type Diagnostic, diagnosticAt, valueText } from "./diagnostic.js";
import { emptyMapping, isMapping, type Mapping, type Path, placeOf, type Source, setPlace } from "./source.js";

/** A mala.yaml is a ratchet.yaml in which the agent is spelled differently and some keys have no meaning. */
const withoutMeaning = [
  "code_patterns",
  "config_files",
  "setup_files",
  "coverage",
  "claude_settings_sources",
  "max_idle_retries",
  "max_diff_size_kb",
  "context_limit",
  "epic_verification",
  "long_running",
  "lock_wait",
  "amp_mode",
] as const;

export const malaKeys: readonly string[] = ["coder", "model", "effort", "coder_options", ...withoutMeaning];

/** What a key of mala.yaml is called in ratchet.yaml. */
export function nameInRatchet(key: string): string | null {
  if (key === "coder" || key === "coder_options") return `${key} is of mala.yaml, here it is agent`;
  return malaKeys.includes(key) ? `${key} is of mala.yaml and has no meaning here` : null;
}

const epicsAreVerified = "ignored: epics are verified whenever a review is enabled, by its reviewer";

const coders = ["claude", "codex"];

/** Rewrites the source in place to the keys of ratchet.yaml; places stay those of the file. */
export function translateMala(source: Source): Diagnostic[] {
  const { root } = source;
  const found: Diagnostic[] = [];
  const options = optionsOfCoder(source, found);
  for (const key of ["coder", "model", "effort"]) {
    if (!Object.hasOwn(root, key)) continue;
    const setting = key === "coder" ? "type" : key;
    if (isMapping(root.agent) && root.agent[setting] !== undefined) {
      found.push(ignored(source, [key], `ignored: agent.${setting} is given too`));
    }
    if (key !== "coder") move(source, [key], key);
    else found.push(...moveCoder(source));
    delete root[key];
  }
  for (const { key, path, value } of options) {
    if (isMapping(root.agent) && root.agent[key] !== undefined) continue;
    move(source, path, key, value);
  }
  for (const key of withoutMeaning.filter((name) => Object.hasOwn(root, name))) {
    found.push(key === "epic_verification" ? ignored(source, [key], epicsAreVerified) : ignored(source, [key]));
    delete root[key];
  }
  return found;
}

function moveCoder(source: Source): Diagnostic[] {
  const { coder } = source.root;
  if (coder === "claude" || coder === "codex") {
    move(source, ["coder"], "type");
    return [];
  }
  // Another error stands for it: the agent counts as given.
  move(source, ["coder"], "type", "command");
  move(source, ["coder"], "command", ["-"]);
  const allowed = `expected one of ${coders.join(", ")}`;
  const wrong = coder === "amp" ? `there is no agent amp here, ${allowed}` : `${allowed}, found ${valueText(coder)}`;
  const message = `${wrong}; other programs are given as agent`;
  return [diagnosticAt(placeOf(source, ["coder"]), { path: ["coder"], message })];
}

interface Option {
  readonly key: string;
  readonly path: Path;
  readonly value: unknown;
}

/** coder_options: {codex: {model, effort}} where coder is codex; the rest of it has no meaning here. */
function optionsOfCoder(source: Source, found: Diagnostic[]): Option[] {
  const { root } = source;
  if (!Object.hasOwn(root, "coder_options")) return [];
  const path = ["coder_options"];
  const all = root.coder_options;
  const coder = typeof root.coder === "string" ? root.coder : "claude";
  delete root.coder_options;
  if (!isMapping(all)) {
    const message = `expected a mapping of a coder to its options, found ${valueText(all)}`;
    found.push(diagnosticAt(placeOf(source, path), { path, message }));
    return [];
  }
  const own = Object.hasOwn(all, coder) ? all[coder] : undefined;
  const options: Mapping = isMapping(own) ? own : {};
  const known = ["model", "effort"].filter((key) => Object.hasOwn(options, key));
  if (Object.keys(all).length > (isMapping(own) ? 1 : 0) || Object.keys(options).length > known.length) {
    found.push(
      ignored(source, path, "only model and effort of the chosen coder have a meaning here, the rest is ignored"),
    );
  }
  return known.map((key) => ({ key, path: [...path, coder, key], value: options[key] }));
}

function move(source: Source, from: Path, to: string, value: unknown = source.root[String(from[0])]): void {
  const { root } = source;
  if (root.agent === undefined) root.agent = emptyMapping();
  if (!isMapping(root.agent) || root.agent[to] !== undefined) return;
  root.agent[to] = value;
  const named = (side: "key" | "value") => ({ ...placeOf(source, from, side), key: from.join(".") });
  setPlace(source, ["agent", to], { key: named("key"), value: named("value") });
}

function ignored(source: Source, path: Path, message = "has no meaning here, ignored"): Diagnostic {
  return diagnosticAt(placeOf(source, path, "key"), { path, message, severity: "warning" });
}
