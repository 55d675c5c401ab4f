import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fence } from "./fence.js";
import { namesIn, renderTemplate } from "./template.js";
import { promptKinds, templateNames, templateProblem } from "./templates.js";

describe("renderTemplate", () => {
  it.each([
    ["inserts values", "a {{x}} b {{y}}", { x: "1", y: "2" }, "a 1 b 2\n"],
    [
      "never reads a value again",
      "{{x}} {{y}}",
      { x: "{{y}}", y: "$& $1 %s `{}` {{x}}" },
      "{{y}} $& $1 %s `{}` {{x}}\n",
    ],
    ["leaves other braces alone", "{ {x} {{x}} }", { x: "{" }, "{ {x} { }\n"],
    ["drops a line whose only value is empty", "a\n\n{{x}}\n\nb", { x: "" }, "a\n\nb\n"],
    ["keeps the line of an empty value within text", "a {{x}}.", { x: "" }, "a .\n"],
    ["keeps empty lines and trailing blanks of a value", "{{x}}\n", { x: "a\n\n\nb \n " }, "a\n\n\nb \n \n"],
    ["fills the same template anew each time", "a {{x}} b {{y}}", { x: "3", y: "4" }, "a 3 b 4\n"],
    ["knows line ends of Windows, and blanks around what stands alone", "a\r\n \t{{x}} \r\n\r\nb", { x: "" }, "a\nb\n"],
    ["keeps the line of two empty values", "a\n{{x}}{{x}}\nb", { x: "" }, "a\n\nb\n"],
    ["does not need every value", "a", { x: "1" }, "a\n"],
  ])("%s", (_what, template, values, text) => {
    expect(renderTemplate(template, values)).toBe(text);
  });

  it.each(["{{nope}}", "{{ x }}", "{{}}", "{{toString}}", "{{x\n}}"])("refuses %s, naming it", (used) => {
    expect(() => renderTemplate(`a ${used}`, { x: "1" })).toThrow(`no value for ${used}`);
  });
});

describe("the shipped templates", () => {
  it.each(promptKinds)("%s.md uses exactly its names", (kind) => {
    const template = readFileSync(`prompts/${kind}.md`, "utf8");
    expect(new Set(namesIn(template))).toEqual(new Set(templateNames[kind]));
    expect(templateProblem(kind, template)).toBe(null);
  });

  it("covers every kind", () => {
    expect([...promptKinds].sort()).toEqual(Object.keys(templateNames).sort());
  });

  it("says of a project's template which name it may not use, and which it may", () => {
    expect(templateProblem("continue", "{{issue_id}} {{isue}}")).toBe(
      "uses {{isue}}, which this prompt does not have; it has issue_id, reason",
    );
  });
});

describe("fence", () => {
  it.each(["plain", "~~~~~~~~", `a\n${"~".repeat(40)}\nb`, "", "ends with ~"])(
    "encloses %j so that it cannot end the block",
    (text) => {
      const fenced = fence(text, "Note.");
      const marker = fenced.split("\n").at(-1) ?? "";
      expect(marker).toMatch(/^~{8,}$/);
      expect(text).not.toContain(marker);
      expect(fenced.endsWith(`\n${marker}\n${text}\n${marker}`)).toBe(true);
    },
  );
});
