import type { HumanOption } from "../graph.js";
import type { Named } from "../position.js";
import type { Problems } from "../problems.js";
import type { KdlNode } from "./node.js";
import { name, readName, readNames, readProperties, refuseUnknown, text, toNamed } from "./properties.js";
import { need } from "./reading.js";

const optionProperties = { label: text, to: name };

/** `option "approve" label="Approve" to="build"` */
export function readOptions(stage: KdlNode, problems: Problems): HumanOption[] {
  return stage.children.flatMap((node) => {
    if (node.name !== "option") return [];
    const key = readName(node, problems);
    const what = `option "${key?.name ?? ""}"`;
    const get = readProperties(node, { what, properties: optionProperties }, problems);
    refuseUnknown(node, { what, properties: Object.keys(optionProperties), children: [] }, problems);
    const to = toNamed(need(get("to"), { node, key: "to", what }, problems));
    if (key === null || to === null) return [];
    return [{ key: key.name, label: get("label")?.value ?? key.name, to }];
  });
}

/** `require_feedback_on "revise"`, once or several times, or as a property. */
export function readRequiredFeedback(stage: KdlNode, problems: Problems): Named[] {
  const property = stage.properties.find((found) => found.name === "require_feedback_on")?.value;
  const own = typeof property?.value === "string" ? [{ name: property.value, at: property.at }] : [];
  const nodes = stage.children.filter((child) => child.name === "require_feedback_on");
  return [...own, ...nodes.flatMap((node) => readNames(node, problems))];
}
