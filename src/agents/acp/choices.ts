import { type Fields, toFields, toList, toText } from "../json.js";

/**
 * What a session lets its client choose. Programs offer modes and models in lists of their own, or as options with a
 * category, or both: then the list counts, which is the older way.
 */
export interface Choice {
  readonly current: string;
  readonly offered: readonly string[];
  /** How the choice is told. */
  readonly set: (value: string) => { readonly method: string; readonly params: Fields };
}

export type Chosen = "mode" | "model" | "thought_level";

export function choiceOf(session: Fields, what: Chosen): Choice | null {
  return listed(session, what) ?? option(session, what);
}

function option(session: Fields, what: Chosen): Choice | null {
  const found = toList(session.configOptions)
    .map(toFields)
    .find((one) => one.category === what || one.id === what);
  if (!found) return null;
  const configId = toText(found.id);
  return {
    current: toText(found.currentValue),
    offered: valuesIn(found.options),
    set: (value) => ({ method: "session/set_config_option", params: { configId, value } }),
  };
}

function listed(session: Fields, what: Chosen): Choice | null {
  if (what === "thought_level") return null;
  const isMode = what === "mode";
  const given = toFields(isMode ? session.modes : session.models);
  const offered = toList(isMode ? given.availableModes : given.availableModels).flatMap((one) => {
    const { id, modelId } = toFields(one);
    return toText(isMode ? id : modelId) || [];
  });
  if (offered.length === 0) return null;
  return {
    current: toText(isMode ? given.currentModeId : given.currentModelId),
    offered,
    set: (value) =>
      isMode
        ? { method: "session/set_mode", params: { modeId: value } }
        : { method: "session/set_model", params: { modelId: value } },
  };
}

/** Options may come in groups. */
function valuesIn(options: unknown): string[] {
  return toList(options).flatMap((one) => {
    const { value, options: inner } = toFields(one);
    return typeof value === "string" ? [value] : valuesIn(inner);
  });
}

/**
 * The mode in which a program asks before it acts, so that the guard is asked; where a program cannot commit in such a
 * mode, the one in which it can.
 */
export function modeFor(offered: readonly string[], readOnly: boolean): string | null {
  const wanted = readOnly ? ["read-only", "default", "plan", "build"] : ["agent-full-access", "default", "build"];
  return wanted.find((mode) => offered.includes(mode)) ?? null;
}

/** Some name a model and its effort together: `gpt-6[high]`. null: there is no such model. */
export function modelFor(offered: readonly string[], model: string, effort: string | null): string | null {
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
  const names = [...(effort === null ? [] : [`${model}[${effort}]`]), model];
  const exact = names.flatMap((name) => offered.filter((one) => same(one, name)))[0];
  return exact ?? offered.find((one) => one.toLowerCase().startsWith(`${model.toLowerCase()}[`)) ?? null;
}
