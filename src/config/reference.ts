import type * as z from "zod";
import { unavailableSettings } from "./availability.js";
import { minimalConfig } from "./load.js";
import { malaKeys } from "./mala.js";
import { presetNames, presets } from "./presets.js";
import { shownDefault } from "./schema/kinds.js";
import { configSchema } from "./schema/root.js";
import { allowedWords, bare, elementOf, shapeOf } from "./schema/walk.js";

interface SettingRow {
  readonly key: string;
  readonly default: string;
  readonly allowed: string;
  readonly meaning: string;
}
export interface SettingsTable {
  /** `commands.<name>`; "" for the top level. */
  readonly section: string;
  readonly meaning: string;
  readonly rows: readonly SettingRow[];
}

/** Every setting, a table for each section, in the order of the schema. */
export function settingsReference(): SettingsTable[] {
  const tables: SettingsTable[] = [];
  addTable({ name: "", schema: configSchema }, { tables, described: new Set() });
  return tables;
}

interface Section {
  readonly name: string;
  readonly schema: z.ZodType;
}
interface Written {
  readonly tables: SettingsTable[];
  /** Sections that several places share are described at the first one. */
  readonly described: Set<z.ZodType>;
}

function addTable({ name, schema }: Section, written: Written): void {
  const inside = bare(schema).schema;
  if (written.described.has(inside)) return;
  written.described.add(inside);
  const children = Object.entries(shapeOf(schema) ?? {});
  const rows = children
    .filter(([, child]) => name !== "" || shapeOf(child) === null)
    .map(([key, child]) => rowOf(key, child));
  written.tables.push({ section: name, meaning: schema.description ?? "", rows });
  for (const [key, child] of children) {
    const section = sectionBelow(name === "" ? key : `${name}.${key}`, child);
    if (section !== null) addTable(section, written);
  }
}

function sectionBelow(path: string, schema: z.ZodType): Section | null {
  if (shapeOf(schema) !== null) return { name: path, schema };
  const entries = elementOf(schema, "mapping");
  if (entries !== null && shapeOf(entries) !== null) return { name: `${path}.<name>`, schema: entries };
  const items = elementOf(schema, "list");
  return items !== null && shapeOf(items) !== null ? { name: `${path}[]`, schema: items } : null;
}

function rowOf(key: string, schema: z.ZodType): SettingRow {
  const isSection = shapeOf(schema) !== null;
  const { fallback } = bare(schema);
  const written = isSection && fallback !== null ? "" : fallback === undefined ? "" : `\`${flow(fallback)}\``;
  return {
    key,
    default: shownDefault(schema) ?? written,
    allowed: isSection ? "a section of its own" : allowedWords(schema),
    meaning: schema.description ?? "",
  };
}

/** A default as it would be written in the file. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => String(item)).join(", ")}]`;
  return typeof value === "object" && value !== null ? JSON.stringify(value) : String(value);
}

/** docs/configuration.md. */
export function describeConfiguration(): string {
  const tables = settingsReference().map(({ section, meaning, rows }) =>
    [
      `### ${section === "" ? "Top level" : `\`${section}\``}`,
      ...(meaning === "" ? [] : [meaning]),
      [
        "| key | default | allowed | meaning |\n|---|---|---|---|",
        ...rows.map((row) => `| \`${row.key}\` | ${cell(row.default)} | ${cell(row.allowed)} | ${cell(row.meaning)} |`),
      ].join("\n"),
    ].join("\n\n"),
  );
  return `${[introduction(), "## Settings", ...tables, presetsPart(), closing()].join("\n\n")}\n`;
}

function cell(text: string): string {
  return text
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;")
    .replace(/`[^`]*`/g, (code) => code.replaceAll("&lt;", "<"));
}

function introduction(): string {
  return `# Configuration

<!-- Made from the schema by describeConfiguration() in src/config/reference.ts; \`npx vitest run --project unit src/config -u\` writes it anew. -->

Ratchet reads \`ratchet.yaml\` in the root of the repository, once, before anything starts. A small one:

\`\`\`yaml
${minimalConfig}
\`\`\`

\`ratchet config check\` shows everything that is wrong with it, with line and column; \`ratchet config schema\` prints a JSON
Schema for editors. Unknown keys are errors, and so is a NUL byte in any text. Sections that are switched off are checked and otherwise ignored.

\`\`\`console
$ ratchet config check
ratchet.yaml is fine
$ RATCHET_MAX_AGENTS=0 ratchet config check
environment: RATCHET_MAX_AGENTS: expected auto, or a whole number of 1 or more, found 0
\`\`\`

\`\`\`mermaid
flowchart LR
  defaults --> preset --> file["ratchet.yaml"] --> environment["RATCHET_…"] --> flags
  flags --> check{"all of it checked"}
  check -- "anything wrong" --> messages["every mistake, with its place; nothing starts"]
  check -- "all right" --> settings["one set of settings, frozen for the run"]
\`\`\`

A flag wins over the environment, the environment over the file, the file over the default. Every setting can be given
as a variable: \`RATCHET_\` and the key in capitals, with \`__\` for nesting (\`RATCHET_MAX_AGENTS=3\`, \`RATCHET_AGENT__TYPE=command\`,
\`RATCHET_PER_ISSUE_REVIEW__MAX_RETRIES=2\`). Values are YAML scalars, or lists in brackets; an empty variable counts as not set.
Names below \`commands\` are lower case there. A \`RATCHET_\` variable that is no setting, such as a misspelt one, is told with a warning and
ignored, also where its section is known: the environment belongs to other programs, too.

The flags: \`--max-agents\` and \`--max-issues\` set the keys of that name. \`--max-review-retries\` wins over
\`per_issue_review.max_retries\`. \`--disable-validations review,session_end,…\` switches the per-issue review and triggers off,
and leaves the reviewer of all others as it is.

**The reviewer.** One reviewer serves all reviews: that of \`per_issue_review\` when it is enabled, else that of the first enabled
\`code_review\` of session_end, epic_completion, run_end, periodic, else \`agent_sdk\` (600 s, sonnet). To use other reviewer
settings for triggers, leave \`per_issue_review.enabled: false\`.`;
}

function presetsPart(): string {
  const names = [...new Set(presetNames.flatMap((preset) => Object.keys(presets[preset])))];
  const rows = names.map(
    (name) =>
      `| \`${name}\` | ${presetNames.map((preset) => `\`${cell(presets[preset][name] ?? "")}\``).join(" | ")} |`,
  );
  return `## Presets

A preset sets commands and nothing else. Commands of the file override it by name, also field by field (\`test: {timeout: 600}\`); null
switches one off.

| command | ${presetNames.join(" | ")} |
|---|${presetNames.map(() => "---").join("|")}|
${rows.join("\n")}`;
}

function closing(): string {
  return `## mala.yaml

Where there is no \`ratchet.yaml\`, a \`mala.yaml\` is read. \`coder\`, \`model\`, \`effort\` and \`coder_options\` say what \`agent\` says here;
${malaKeys
  .slice(4)
  .map((key) => `\`${key}\``)
  .join(", ")} have no meaning and get a warning each. In
\`ratchet.yaml\` all of these are unknown keys. \`global_validation_commands\`, \`custom_commands\` and \`validate_every\` are refused in both,
with an example of what to write in their place.

## Not available yet

These are checked, and refused with "not available yet" where they would be used:

${unavailableSettings()
  .map((line) => `- ${line}`)
  .join("\n")}`;
}
