import { describe, expect, test } from "vitest";
import { configJsonSchema } from "./json-schema.js";
import { describeConfiguration, settingsReference } from "./reference.js";

describe("the reference", () => {
  test("docs/configuration.md is what the schema says", async () => {
    await expect(describeConfiguration()).toMatchFileSnapshot("../../docs/configuration.md");
  });

  test("every setting has a meaning and says what is allowed", () => {
    const rows = settingsReference().flatMap(({ section, rows: all }) => all.map((row) => ({ section, ...row })));
    expect(rows.length).toBeGreaterThan(80);
    expect(rows.filter(({ meaning, allowed }) => meaning === "" || allowed.endsWith("a mapping of "))).toEqual([]);
  });
});

describe("the JSON Schema", () => {
  test("knows the keys, their defaults and that there are no others", () => {
    expect(configJsonSchema()).toMatchObject({
      type: "object",
      additionalProperties: false,
      properties: {
        timeout_minutes: { type: "number", default: 30 },
        per_issue_review: {
          additionalProperties: false,
          properties: { enabled: { type: "boolean" }, finding_threshold: { enum: ["P0", "P1", "P2", "P3", "none"] } },
        },
      },
    });
  });
  test("demands nothing of the top level and is plain JSON", () => {
    const schema = configJsonSchema();
    expect(schema.required).toBeUndefined();
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });
});
