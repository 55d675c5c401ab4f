import { expect, test } from "vitest";
import { parseKdl } from "./parse-kdl.js";

/** Everything that could be cut in two by mistake, each with the place where its stage begins. */
const odd: readonly ((id: string) => { readonly text: string; readonly line: number })[] = [
  (id) => ({ text: `stage "${id}" kind="llm" auto_status=true prompt="p"`, line: 0 }),
  (id) => ({ text: `stage "${id}" kind="llm" \\ // more {\n    auto_status=#true \\\n    prompt="a } b"`, line: 0 }),
  (id) => ({ text: `/* {\n} */\nstage "${id}" kind="llm" auto_status=#true prompt="p"; // }`, line: 2 }),
  (id) => ({ text: `/- stage "x" {\n  a\n}\nstage "${id}" kind="llm" auto_status=true {\n prompt "p"\n}`, line: 3 }),
  (id) => ({ text: `/-\nstage "x"\nstage "${id}" kind="llm" auto_status=true prompt="p"`, line: 2 }),
  (id) => ({ text: `stage "${id}" kind="llm" auto_status=true prompt="""\n  {\n  a\n  """`, line: 0 }),
  (id) => ({ text: `stage "${id}" kind="llm" auto_status=true prompt=#"\\ " } "#`, line: 0 }),
];

/** A file of so many stages, one after the other, and the lines they begin in. */
function longFile(count: number, stageOf: (at: number) => (typeof odd)[number] | undefined) {
  const lines: number[] = [];
  let text = '// a\nworkflow "w" { version 2; start "s0"\n';
  for (let at = 0; at < count; at++) {
    const stage = stageOf(at)?.(`s${at}`) ?? { text: "", line: 0 };
    lines.push(text.split("\n").length + stage.line);
    const next = at + 1 < count ? `s${at + 1}` : "e";
    text += `${stage.text}\ntransition from="s${at}" to="${next}" when=#"outcome("s${at}") == "success""#\n`;
  }
  return { text: `${text}stage "e" kind="exit" }\n`, lines };
}

test.each([0, 1, 2, 3, 4, 5, 6])("E11 a long file with stages of form %i has them all, at their places", (form) => {
  const { text, lines } = longFile(400, () => odd[form]);
  const { graph, diagnostics } = parseKdl(text, { file: "w.kdl" });
  expect(diagnostics).toEqual([]);
  expect(graph?.stages.slice(0, -1).map(({ at }) => at)).toEqual(lines.map((line) => ({ line, column: 1 })));
  expect(graph?.transitions.map(({ from }) => from.name)).toEqual(lines.map((_, at) => `s${at}`));
  expect(graph?.stages.map(({ id }) => id)).toEqual([...lines.map((_, at) => `s${at}`), "e"]);
  const written = text.split("\n");
  for (const { when } of graph?.transitions.slice(-50) ?? []) {
    if (when?.type !== "equal" || when.left.type !== "outcome") throw new Error("no condition");
    const { line, column } = when.left.at;
    expect(written[line - 1]?.slice(column - 1)).toMatch(`"${when.left.stage}"`);
  }
});

test("E11 one mistake in a long file is told at its place, and nothing else is", () => {
  const { text } = longFile(400, (at) => odd[at % odd.length]);
  const line = text.split("\n").length - 1;
  for (const [mistake, place] of [
    ['transition from="e" to="e" to="e"', { column: 28, rule: "duplicate-property" }],
    ['(t)transition from="e" to="e"', { column: 1, rule: "syntax" }],
    ["stage a=", { column: 9, rule: "syntax" }],
  ] as const) {
    const { diagnostics } = parseKdl(text.replace(/stage "e".*\n$/, `${mistake}\nstage "e" kind="exit" }\n`), {
      file: "w.kdl",
    });
    expect(diagnostics).toHaveLength(1);
    expect(diagnostics[0]).toMatchObject({ line, ...place });
  }
});
