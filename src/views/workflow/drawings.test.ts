import stringWidth from "string-width";
import { describe, expect, it } from "vitest";
import { parseDot } from "../../workflow/dot/parse-dot.js";
import type { Graph } from "../../workflow/graph.js";
import { drawText } from "./draw-text.js";
import { toMermaid } from "./to-mermaid.js";
import { toSvg } from "./to-svg.js";

function graphOf(text: string): Graph {
  const { graph } = parseDot(text, { file: "f.dot" });
  if (graph === null) throw new Error("no graph");
  return graph;
}

const sample = graphOf(`digraph Ship {
  goal="Ship it"
  start [shape=Mdiamond] exit [shape=Msquare]
  plan [prompt="Plan it"] ask [shape=hexagon label="Good?"]
  fork [shape=component] ci [shape=parallelogram tool_command="npm test"] review [prompt=r auto_status=true] all [shape=tripleoctagon]
  gate [shape=diamond] fix [prompt=f retry_target=plan]
  start -> plan -> ask; ask -> fork [label="[Y] Yes"]; ask -> plan [label="[N] No"]
  fork -> {ci review} -> all -> gate
  gate -> exit [condition="outcome=success"]; gate -> fix; fix -> fork
}`);

function chain(stages: number): Graph {
  const names = Array.from({ length: stages }, (_, index) => `stage_${index}`);
  return graphOf(
    `digraph { start -> ${names.join(" -> ")} -> end ${names.map((name) => `${name} -> end [condition="outcome=fail"]`).join(" ")} }`,
  );
}

describe("a workflow on the terminal", () => {
  it("is boxes with what leads out of them, ways back named", () => {
    expect(drawText(sample, { width: 80 })).toMatchInlineSnapshot(`
      "Ship
      Ship it

                  ┌───────┐
                  │ start │
                  └───┬───┘
                      ▼
               ┌────────────┐
               │ plan · llm │
               └──────┬─────┘
                      ▼
             ┌─────────────────┐
             │ ask · human     │
             │ Good?           │
             │ → fork  [Y] Yes │
             │ ↩ plan  [N] No  │
             └────────┬────────┘
                      ▼
             ┌─────────────────┐
             │ fork · parallel │
             └────────┬────────┘
                      ├──────────────┐
                      ▼              ▼
                ┌───────────┐   ┌────────┐
                │ ci · tool │   │ review │
                └─────┬─────┘   └────┬───┘
                      └───────┬──────┘
                              ▼
                       ┌────────────┐
                       │ all · join │
                       └──────┬─────┘
                              ▼
                 ┌─────────────────────────┐
                 │ gate · decision         │
                 │ → exit  outcome=success │
                 │ → fix  else             │
                 └────────────┬────────────┘
                              ├─────────────────┐
                              ▼                 ▼
                          ┌──────┐   ┌────────────────────┐
                          │ exit │   │ fix · llm          │
                          └──────┘   │ ↩ fork             │
                                     │ ↩ plan  on failure │
                                     └────────────────────┘
      "
    `);
  });

  it("fits its width, as a list where boxes do not", () => {
    for (const width of [200, 100, 80, 60, 40, 20]) {
      for (const graph of [sample, chain(30), chain(200)]) {
        const lines = drawText(graph, { width }).split("\n");
        expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(width);
        for (const { id } of graph.stages.slice(0, 10))
          expect(lines.some((line) => line.includes(id.slice(0, 8)))).toBe(true);
      }
    }
    expect(drawText(chain(30), { width: 80 })).toContain("│ stage_29 · llm");
    expect(drawText(sample, { width: 20 })).toContain("→ fork on [Y] Yes");
    expect(drawText(sample, { width: 20 })).not.toContain("┌");
  });

  it("has straight boxes around characters of any width", () => {
    const wide = graphOf('digraph { goal="字" start -> a -> exit; a [label="漢字 👩‍👩‍👧 🇩🇪 e\u0301 ✔️"] }');
    const lines = drawText(wide, { width: 80, cells: stringWidth }).split("\n");
    const box = lines.filter((line) => /[┌│└].*[┐│┘]/.test(line)).slice(3, -3);
    expect(box).toHaveLength(4);
    expect(new Set(box.map((line) => stringWidth(line))).size).toBe(1);
  });

  it("lights stages by their state, and only with colours", () => {
    const lit = (id: string) => (id === "ci" ? "running" : id === "plan" ? "success" : null);
    const plain = drawText(sample, { width: 80 });
    const esc = String.fromCharCode(27);
    const colored = drawText(sample, { width: 80, color: true, lit });
    expect(colored).toContain(`${esc}[36m│ ci · tool │${esc}[0m`);
    expect(colored.replaceAll(new RegExp(`${esc}\\[\\d+m`, "g"), "")).toBe(plain);
    expect(drawText(sample, { width: 80, lit })).toBe(plain);
  });

  it("lets no text of a file move the cursor or break a box", () => {
    const text = drawText(graphOf('digraph { start -> a -> end a [label="x\u001b[2Jy\nz 日本"] }'), {
      width: 60,
      cells: (part) => [...part].reduce((sum, sign) => sum + (/[\u3000-\u9fff]/.test(sign) ? 2 : 1), 0),
    });
    expect(text).not.toContain("\u001b");
    expect(text).toContain("│ xy z 日本 │\n");
  });
});

describe("a workflow as a picture", () => {
  const hostile = graphOf(`digraph "<b>&" { start -> a [label="</text><script>"]; a -> end [label="x\\"|y"]
    a [label="<img src=x onerror=alert(1)> & \\u0000 \\"]" prompt="]]>"] }`);

  it("is well-formed SVG whatever is in the file, and lights stages", () => {
    for (const graph of [sample, hostile, chain(400)]) {
      const svg = toSvg(graph, { lit: (id) => (id === "a" ? "waiting" : null) });
      expect(openTags(svg)).toEqual([]);
      expect(svg).not.toMatch(/<script|<img|NaN|undefined/);
    }
    expect(toSvg(sample)).toMatch(/^<svg [^>]*>\n<title>Ship<\/title>/);
    expect(toSvg(sample)).toContain(">outcome=success</text>");
    expect(toSvg(hostile, { lit: () => "fail" })).toContain('<g class="fail" data-stage="a">');
  });

  it("is a Mermaid flowchart whose texts cannot break it", () => {
    expect(toMermaid(hostile).split("\n").slice(1, 6)).toMatchInlineSnapshot(`
      [
        "  s0(["start"])",
        "  s1["a: #60;img src=x onerror=alert(1)#62; #38; #92;u0000 #34;#93; (llm)"]",
        "  s2(["end"])",
        "  s0 -->|"#60;/text#62;#60;script#62;"| s1",
        "  s1 -->|"x#34;#124;y"| s2",
      ]
    `);
    expect(toMermaid(sample)).toContain('s3 -->|"#91;Y#93; Yes"| s4');
    expect(toMermaid(sample)).toContain('s9 -.->|"on failure"| s2');
  });
});

/** What stays open when every tag is matched with its end. */
function openTags(xml: string): string[] {
  const open: string[] = [];
  for (const [, close, name, self] of xml.matchAll(/<(\/?)([a-z]+)(?:\s[^<>]*?)?(\/?)>/gi)) {
    if (close === "/") expect(open.pop()).toBe(name);
    else if (self !== "/") open.push(name ?? "");
  }
  expect(xml.replaceAll(/<\/?[a-z]+(?:\s[^<>]*?)?\/?>/gi, "").replace(/<style>[\s\S]*<\/style>/, "")).not.toMatch(
    /[<>]|&(?!(?:lt|gt|amp|quot);)/,
  );
  return open;
}
