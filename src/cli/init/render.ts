import { Document, isMap, isScalar, visit } from "yaml";
import type { ConfigPlan, PlannedSection } from "./plan.js";

const head = [
  "# What Ratchet does in this repository. `ratchet config check` reads it over; every setting is in",
  "# `ratchet config schema`.",
];

/** The text of the file: a paragraph for each section, with what it is for. */
export function renderConfig(plan: ConfigPlan): string {
  return `${[head.join("\n"), ...plan.map(renderSection)].join("\n\n")}\n`;
}

function renderSection({ key, comment, value, remarks = {} }: PlannedSection): string {
  const document = new Document({ [key]: value });
  visit(document, {
    Seq: (_, list) => {
      if (list.items.every(isScalar)) list.flow = true;
    },
    Map: (_, map) => {
      if (map.items.length === 0) map.flow = true;
    },
  });
  const section = document.get(key, true);
  if (isMap(section)) {
    for (const pair of section.items) {
      const name = isScalar(pair.key) ? String(pair.key.value) : "";
      if (Object.hasOwn(remarks, name) && isScalar(pair.value)) pair.value.comment = ` ${remarks[name]}`;
    }
  }
  const text = document.toString({ lineWidth: 0, flowCollectionPadding: false });
  return [...comment.map((line) => `# ${line}`), text.trimEnd()].join("\n");
}
