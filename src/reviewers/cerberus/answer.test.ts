import { describe, expect, it } from "vitest";
import { readAnswer } from "./answer.js";

const pass = '{"status":"resolved","verdict":"pass","reviews":[{"verdict":"pass"}],"findings":[]}';
const fail = '{"status":"resolved","verdict":"fail","findings":[{"title":"Wrong","priority":1}]}';

describe("the answer of cerberus wait", () => {
  it.each([
    ["alone", pass],
    ["behind a warning", `warning: a newer version is available\n${pass}\n`],
    ["before a last word", `${pass}\nreview finished.\n`],
    ["behind a byte order mark", `\uFEFF${pass}\n`],
    ["behind both", `\uFEFFwarning: old\n${pass}`],
    ["in a code fence", `\`\`\`json\n${pass}\n\`\`\`\n`],
    ["behind its progress", `{"status":"pending"}\n${fail}\n${pass}`],
  ])("is read %s", (_where, printed) => {
    expect(readAnswer(printed)).toEqual({ answer: JSON.parse(pass) });
  });

  it("is read however long it is", () => {
    const long = JSON.stringify({ ...JSON.parse(fail), log: "x".repeat(2 ** 21) });
    expect(readAnswer(long)).toEqual({ answer: JSON.parse(long) });
  });

  it.each([
    ["nothing", "", "is not JSON: it said nothing"],
    ["prose", "All is well.\nIt passes.\n", "is not JSON: It passes."],
    ["one without a verdict", 'warning\n{"status":"pending"}\n', "cannot be read: no verdict in the output"],
    ["one cut off", `${pass}\n${fail.slice(0, 40)}`, "cannot be read: the last JSON object of the output is broken"],
    ["one behind another in a list", `done:\n[${fail}, ${pass}]`, "cannot be read: the verdict is one of several"],
    ["one within a broken one", `note\n{"said": "${pass}"}`, "cannot be read: the pass stands within"],
    ["one that says two things", `note\n${pass.replace("{", '{"verdict":"fail",')}`, 'gives "verdict" twice'],
  ])("is none in %s", (_what, printed, reason) => {
    expect(readAnswer(printed)).toEqual({ reason: expect.stringContaining(reason) });
  });
});
