import { nearest } from "../../core/suggest.js";
import type { ModelChoice } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { KdlNode } from "./node.js";
import { name, readName, readProperties, refuseUnknown, toNamed } from "./properties.js";

export interface Models {
  readonly profiles: ReadonlyMap<string, ModelChoice>;
  readonly default: ModelChoice;
}

export const modelProperties = { model: name, provider: name, reasoning_effort: name };

const none: ModelChoice = { model: null, provider: null, effort: null };

/** `models { default "p"; profile "p" model=… provider=… reasoning_effort=… }` */
export function readModels(nodes: readonly KdlNode[], problems: Problems): Models {
  const [node, second] = nodes;
  if (second !== undefined)
    problems.error({
      at: second.at,
      rule: "duplicate-node",
      message: '"models" is given twice',
      hint: "make them one",
    });
  if (node === undefined) return { profiles: new Map(), default: none };
  const get = readProperties(node, { what: "models", properties: { default: name } }, problems);
  refuseUnknown(node, { what: "models", properties: ["default"], children: ["profile"] }, problems);
  const profiles = new Map<string, ModelChoice>();
  for (const child of node.children) {
    if (child.name !== "profile") continue;
    const id = readName(child, problems);
    const choice = readProfile(child, id, problems);
    if (id === null) continue;
    if (profiles.has(id.name))
      problems.error({ at: id.at, rule: "duplicate-id", message: `profile "${id.name}" is given twice` });
    profiles.set(id.name, choice);
  }
  return { profiles, default: readDefault(toNamed(get("default")), profiles, problems) };
}

function readProfile(node: KdlNode, id: Named | null, problems: Problems): ModelChoice {
  const what = `profile "${id?.name ?? ""}"`;
  const get = readProperties(node, { what, properties: modelProperties }, problems);
  refuseUnknown(node, { what, properties: Object.keys(modelProperties), children: [] }, problems);
  return {
    model: get("model")?.value ?? null,
    provider: get("provider")?.value ?? null,
    effort: get("reasoning_effort")?.value ?? null,
  };
}

/** A profile, or else a model as it is: files have both. Nearly a profile's name is a slip. */
function readDefault(chosen: Named | null, profiles: Models["profiles"], problems: Problems): ModelChoice {
  if (chosen === null) return none;
  const profile = profiles.get(chosen.name);
  if (profile !== undefined) return profile;
  const near = nearest(chosen.name, profiles.keys());
  if (near !== null) tellUnknownProfile(chosen, near, problems);
  return { ...none, model: chosen.name };
}

/** The stage's own words first, then its profile's, then the default's. */
export function chooseModel(own: ModelChoice, profile: Named | null, { models, problems }: Choosing): ModelChoice {
  const named = profile === null ? undefined : models.profiles.get(profile.name);
  if (profile !== null && named === undefined)
    tellUnknownProfile(profile, nearest(profile.name, models.profiles.keys()), problems);
  const other = named ?? none;
  return {
    model: own.model ?? other.model ?? models.default.model,
    provider: own.provider ?? other.provider ?? models.default.provider,
    effort: own.effort ?? other.effort ?? models.default.effort,
  };
}

interface Choosing {
  readonly models: Models;
  readonly problems: Problems;
}

function tellUnknownProfile({ name: wanted, at }: Named, near: string | null, problems: Problems): void {
  const hint = near === null ? `add profile "${wanted}" to models` : `did you mean "${near}"?`;
  problems.error({ at, rule: "unknown-profile", message: `there is no model profile "${wanted}"`, hint });
}
