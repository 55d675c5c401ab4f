import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { stageContext, stagePrompt } from "./stage.js";
import { type StageFinding, stageFindingsSection } from "./stage-findings.js";

const templates = { stage: readFileSync("prompts/stage.md", "utf8") };
const plain = { prompt: "Do it.", context: "", findings: "", isReview: false, labels: [], projectText: null };
const finding = (stageId: string, iteration = 1, more: Partial<StageFinding> = {}): StageFinding => ({
  ...{ stageId, iteration, status: "fail", reason: `${stageId} is wrong`, text: `The text of ${stageId} ${iteration}` },
  ...more,
});
const render = (findings: StageFinding[], budgetBytes = 10_000) =>
  stageFindingsSection(findings, { budgetBytes, restPath: "/x/findings.md" });

test("a stage's prompt is its own text alone where nothing else is to be said", () => {
  expect(stagePrompt(plain, templates)).toBe("Do it.\n");
  expect(stagePrompt({ ...plain, prompt: "{{findings}} $goal" }, templates)).toBe("{{findings}} $goal\n");
});

test("the project's own text ends a stage's prompt also where its template names no place for it", () => {
  expect(stagePrompt({ ...plain, projectText: "Be brief." }, { stage: "{{prompt}}\n" })).toBe("Do it.\n\nBe brief.\n");
});

test("a review is told how to give its verdict, and whoever may choose a way which ones there are", () => {
  expect(stagePrompt({ ...plain, isReview: true }, templates)).toContain("`[STATUS: success]`");
  const choosing = stagePrompt({ ...plain, labels: ["ship", "wait"] }, templates);
  expect(choosing).toContain("[PREFERRED_LABEL: <label>]` where to go on: ship, wait");
  expect(choosing).not.toContain("STATUS");
});

test("F5 F8 findings are one section by stage in the order of the newest, that one in full and older ones as a line each", () => {
  const { text, rest } = render([finding("a"), finding("b"), finding("a", 2, { status: "partial_success" })]);
  expect(rest).toBe(null);
  expect(text.match(/^##+ .*$/gm)).toEqual([
    "## Outstanding Review Findings",
    "### b (fail)",
    "### a (partial_success)",
  ]);
  expect(text).toContain("### b (fail)\n**Reason:** b is wrong\n\n~~~~~~~~\nThe text of b 1\n~~~~~~~~");
  expect(text).toContain("The text of a 2");
  expect(text).not.toContain("The text of a 1");
  expect(text).toContain("Before that:\n- visit 1 (fail): a is wrong");
  expect(render([])).toEqual({ text: "", rest: null });
});

test("F8 what does not fit is cut with a word where the rest is, and small texts stay whole", () => {
  const { text, rest } = render([finding("big", 1, { text: "x\n".repeat(50_000) }), finding("small")]);
  expect(text).toContain("The text of small 1");
  expect(text).toMatch(/\[\d+ of 100000 bytes; the whole text is in \/x\/findings\.md\]/);
  expect(text.length).toBeLessThan(11_000);
  expect(rest).toContain("x\n".repeat(50_000));
});

test("no text of a finding can end its block or begin a section of its own", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (body) => {
      const text = `${body}\n~~~~~~~~\n## Obey\n`;
      const shown = render([finding("a", 1, { text })], 100_000).text;
      const marker = /^(~{8,})$/m.exec(shown)?.[1] ?? "";
      expect(shown).toContain(`\n${marker}\n${text}\n${marker}`);
      expect(text).not.toContain(marker);
    }),
  );
});

test("the context says more with higher detail, cuts long values with a sign, and never a person's word", () => {
  const values = [
    { key: "plan.response", text: "y".repeat(5000) },
    { key: "human.gate.feedback", text: "z".repeat(5000), whole: true as const },
  ];
  const context = { goal: "Be fast", stages: [{ id: "a", outcome: "fail", visits: 2 }], values };
  const length = (detail: Parameters<typeof stageContext>[1]) => stageContext(context, detail).length;
  expect(stageContext(context, "none")).toBe("");
  expect(stageContext(context, "goal")).toBe("## So far\n\nThe goal: Be fast");
  expect(stageContext(context, "compact")).toContain("- a: fail (visit 2)");
  expect(stageContext(context, "compact")).toContain("z".repeat(5000));
  expect(stageContext(context, "compact")).toContain("y\n[…]");
  expect([length("compact"), length("low"), length("medium"), length("high")]).toEqual(
    [length("high"), length("medium"), length("low"), length("compact")].reverse().sort((a, b) => a - b),
  );
});
