import { describe, expect, it } from "vitest";
import type { Graph, Stage } from "../graph.js";
import { parseDot } from "./parse-dot.js";

function parse(text: string) {
  return parseDot(text, { file: "flow.dot" });
}

function graphOf(text: string): Graph {
  const { graph, diagnostics } = parse(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  if (graph === null) throw new Error("no graph");
  return graph;
}

function body(statements: string): Graph {
  return graphOf(`digraph T { s [shape=Mdiamond] e [shape=Msquare] ${statements} }`);
}

function stage<K extends Stage["kind"]>(graph: Graph, id: string, kind: K): Extract<Stage, { kind: K }> {
  const found = graph.stages.find((candidate) => candidate.id === id);
  if (found?.kind !== kind) throw new Error(`${id} is ${found?.kind}`);
  return found as Extract<Stage, { kind: K }>;
}

function edges(graph: Graph): string[] {
  return graph.transitions.map(({ from, to, label }) => `${from.name}>${to.name}${label === null ? "" : `:${label}`}`);
}

/** `line:column severity rule message (hint)`, one a line. */
function told(text: string): string[] {
  return parse(text).diagnostics.map(
    ({ line, column, severity, rule, message, hint }) =>
      `${line}:${column} ${severity} ${rule} ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
}

describe("E11: what a DOT file may look like", () => {
  it.each([
    ["chains", "a->b->c [label=x]; s->a c->e", ["a>b:x", "b>c:x", "s>a", "c>e"]],
    ["groups of targets", "s -> {a b} -> e", ["s>a", "s>b", "a>e", "b>e"]],
    ["subgraphs as ends", "subgraph q {a; b} -> c s->a c->e", ["a>c", "b>c", "s>a", "c>e"]],
    ["quoted ids, ports and odd spaces", 's->"a b":n:sw->e', ["s>a b", "a b>e"]],
    ["several blocks without commas", 's->a [label="x" weight=2][weight=3] a->e', ["s>a:x", "a>e"]],
    ["defaults of edges, by scope", "edge [label=d] s->a { edge [label=i] a->b } b->e", ["s>a:d", "a>b:i", "b>e:d"]],
    ["comments", "s->a // x\n# y -> z\n/* a->q */ a->e", ["s>a", "a>e"]],
  ])("%s", (_, text, expected) => {
    expect(edges(body(text))).toEqual(expected);
  });

  it("reads values: escapes, joined strings, HTML labels, bare words", () => {
    const graph = body(
      String.raw`a [prompt="one\ntwo \"x\" \\ \d" + "!", label=<b <B>bold</B><br/>&lt;x&gt;>] b [prompt=bare label="l\l"] s->a->b->e`,
    );
    expect(stage(graph, "a", "llm").prompt).toMatchObject({ text: 'one\ntwo "x" \\ \\d!' });
    expect(stage(graph, "a", "llm").label).toBe("b bold\n<x>");
    expect(stage(graph, "b", "llm")).toMatchObject({ label: "l\n", prompt: { text: "bare" } });
  });

  it("takes defaults by scope, and a subgraph's label as a class", () => {
    const graph = graphOf(`strict digraph "my flow" {
      goal = "ship"; label="Shipping"
      graph [model_stylesheet="* { llm_model: m0; reasoning_effort: low } box { llm_model: m1 } .loop-a { llm_model: 'm2' } #c { llm_model: m3; llm_provider: p }"]
      node [timeout=15m]
      start -> a
      subgraph cluster_x { label = "Loop A!"; node [timeout="250ms"]; b; c [llm_provider=q] d [class="other, x"] }
      a -> b -> c -> d -> end
    }`);
    expect(graph).toMatchObject({ name: "my flow", goal: "ship", label: "Shipping", start: { name: "start" } });
    const llms = ["a", "b", "c", "d"].map((id) => stage(graph, id, "llm"));
    expect(llms.map(({ timeoutMs }) => timeoutMs)).toEqual(
      [null, 250, 250, 250].map((ms, i) => (i === 0 ? 900_000 : ms)),
    );
    expect(llms.map(({ model }) => [model.model, model.provider, model.effort])).toEqual([
      ["m1", null, "low"],
      ["m2", null, "low"],
      ["m3", "q", "low"],
      ["m2", null, "low"],
    ]);
    expect(graph.stages.map(({ kind }) => kind)).toEqual(["start", "llm", "llm", "llm", "llm", "exit"]);
  });
});

describe("E10: every attribute takes effect", () => {
  it("reads what all stages have", () => {
    const graph =
      body(`graph [default_max_retries=2 retry_target=a fallback_retry_target=b default_fidelity="summary:high"]
      a [max_retries=0 goal_gate=true retry_target=b fallback_retry_target=a allow_partial=true max_visits=7 retry.backoff=fixed retry.delay=2s retry.max_delay=1m]
      b [fidelity=full thread_id=t auto_status=true response_key_base=k timeout=900s prompt_file="x.md, y.md"]
      s->a [weight=5 fidelity=compact thread_id=u loop_restart=true] a->b->e`);
    expect(stage(graph, "a", "llm")).toMatchObject({
      maxAttempts: 1,
      retriesFail: true,
      goalGate: true,
      retryTarget: { name: "b" },
      fallbackRetryTarget: { name: "a" },
      allowPartial: true,
      maxVisits: 7,
      backoff: { kind: "fixed", delayMs: 2000, maxDelayMs: 60_000 },
      fidelity: "summary:high",
    });
    expect(stage(graph, "b", "llm")).toMatchObject({
      maxAttempts: 3,
      fidelity: "full",
      thread: "t",
      autoStatus: true,
      withoutStatus: "success",
      responseKey: "k",
      timeoutMs: 900_000,
      prompt: { type: "files", files: [{ name: "x.md" }, { name: "y.md" }] },
    });
    expect(graph).toMatchObject({ retryTarget: { name: "a" }, fallbackRetryTarget: { name: "b" } });
    expect(graph.transitions[0]).toMatchObject({ priority: 5, fidelity: "compact", thread: "u", restart: true });
  });

  it("reads tools, sub-workflows and workspaces", () => {
    const graph = body(`t [shape=parallelogram tool_command="npm test" cwd=web timeout=5m]
      w [shape=house stack.child_dotfile="child.dot" input.plan="$plan"]
      c [type="workspace.create" workspace_name=wt]
      x [type="my.own"] y [shape=star]
      s->t->w->c->x->y->e`);
    expect(stage(graph, "t", "tool")).toMatchObject({ command: "npm test", cwd: "web", timeoutMs: 300_000 });
    expect(stage(graph, "w", "workflow")).toMatchObject({
      ref: { name: "child.dot" },
      inputs: [{ key: "plan", value: "$plan" }],
    });
    expect(graph.stages.find(({ id }) => id === "c")).toMatchObject({ kind: "workspace.create", workspace: "wt" });
    expect([stage(graph, "x", "unknown").type, stage(graph, "y", "unknown").type]).toEqual(["my.own", "star"]);
  });

  it("makes the labels of edges the options of a human gate", () => {
    const graph = body(`g [shape=hexagon label="Ship?" human.default_choice=fix timeout=1h require_feedback_on=F]
      s->g; g->e [label="[A] Approve"]; g->fix [label="F) Fix it"]; g->later [label="Later"]; g->last [label="Leave it"]
      g->e [condition="outcome=fail"]
      fix->g later->g last->g`);
    const gate = stage(graph, "g", "human");
    expect(gate).toMatchObject({ prompt: "Ship?", default: { name: "F" }, timeoutMs: 3_600_000 });
    expect(gate.requireFeedbackOn).toMatchObject([{ name: "F" }]);
    expect(gate.options.map(({ key, label, to }) => `${key}=${label}>${to.name}`)).toEqual([
      "A=Approve>e",
      "F=Fix it>fix",
      "L=Later>later",
      "leave-it=Leave it>last",
    ]);
    expect(edges(graph)).toEqual(["s>g", "g>e", "fix>g", "later>g", "last>g"]);
  });

  it("finds the join of each parallel stage, inner ones included", () => {
    const graph = body(`p [shape=component max_parallel=2 join_policy=quorum quorum=0.6] j [shape=tripleoctagon]
      q [shape=component join_policy=first_success branch_timeout=10m] k [shape=tripleoctagon]
      s->p->{a q c} q->{x y}->k->z->j a->j c->c2->j j->e`);
    expect(stage(graph, "p", "parallel")).toMatchObject({
      branches: [{ name: "a" }, { name: "q" }, { name: "c" }],
      join: { name: "j" },
      maxParallel: 2,
    });
    expect(stage(graph, "q", "parallel")).toMatchObject({
      join: { name: "k" },
      maxParallel: 4,
      branchTimeoutMs: 600_000,
    });
    expect(stage(graph, "j", "join")).toMatchObject({ policy: "quorum", quorum: 2 });
    expect(stage(graph, "k", "join")).toMatchObject({ policy: "any" });
  });

  it("a join's own quorum is a part of the branches that end there", () => {
    const graph = body(`p [shape=component] j [shape=tripleoctagon join_policy=quorum quorum=0.75]
      s->p->{a b c d}->j->e`);
    expect(stage(graph, "j", "join")).toMatchObject({ policy: "quorum", quorum: 3 });
  });
});

describe("E11: mistakes have a place", () => {
  const about = (statements: string) =>
    told(`digraph T {\ns [shape=Mdiamond] e [shape=Msquare] s->e\n${statements}\n}`);
  it.each([
    ["a [label=x] a -- e s->a", ["3:15 error syntax an edge needs a direction (write -> in place of --)"]],
    [
      "a [prompt=p label=]\nb [prompt=p goal_gate]\ns->a->e s->b->e",
      [
        "3:19 error syntax expected a value, found ]",
        '4:13 error syntax goal_gate has no value (write goal_gate=true or goal_gate="…")',
      ],
    ],
    [
      "a [max_retries=many goal_gate=maybe timeout=900 label=l] s->a->e",
      [
        '3:16 error wrong-type max_retries must be a whole number from 0 on, not "many"',
        '3:31 error wrong-type goal_gate must be true or false, not "maybe"',
        '3:45 error wrong-type timeout must be a duration, not "900" (write a number and its unit: "250ms", "90s", "5m", "1h", "2d")',
      ],
    ],
    [
      "a [colour=red color=red promt=x tool_command=y label=l] s->a->e",
      [
        '3:4 warning unknown-attribute unknown node attribute "colour": it changes nothing',
        '3:25 warning unknown-attribute unknown node attribute "promt": it changes nothing (did you mean prompt?)',
        "3:33 warning no-effect tool_command changes nothing for a stage of kind llm",
      ],
    ],
    [
      "a [label=l fidelity=much] s->a->e",
      [
        '3:21 warning fidelity unknown fidelity "much": it changes nothing (write one of full, truncate, compact, summary:low, summary:medium, summary:high)',
      ],
    ],
    [
      "verify [label=l] s->verify->e s->verfy",
      ['3:34 error unknown-stage there is no stage "verfy" (did you mean verify?)'],
    ],
    ["s->a->e", ["3:4 warning undeclared a is only named in edges: its name is all that the agent is told"]],
    ['node [prompt="p"]; s->a->e', []],
    [
      'node [prompt="p"]; verify; s->verify->e s->verfy->e',
      ["3:44 warning undeclared verfy is only named in edges (did you mean verify?)"],
    ],
    [
      "t [shape=parallelogram] p [shape=component] s->t->e s->p->{t e}",
      [
        '3:1 error missing-command the tool stage t has no tool_command (add tool_command="…")',
        '3:25 error parallel-join no join for the parallel stage p: its branches must all lead to one node of shape tripleoctagon (draw the edges, or name it by join="…")',
      ],
    ],
    [
      "p [shape=component] j [shape=tripleoctagon] a [label=l] s->p->{a j} a->j->e",
      ["3:63 warning no-effect a branch from p straight to the join j has no stages: it changes nothing"],
    ],
    ["a [label=l]\n] x\ns->a->e", ["4:1 error syntax expected a node, an edge or an attribute, found ]"]],
    ["a [label=l\ns->a", ["4:1 error syntax the [ of line 3 is never closed (add a ])"]],
  ])("%s", (statements, expected) => {
    expect(about(statements)).toEqual(expected);
  });

  it("reads a long condition as KDL does, and knows every place in it", () => {
    const many = `"a=${"x".repeat(100_000)}\\n" + "${" && b=y".repeat(900)}`;
    expect(about(`s->e [condition=${many}"]`)).toEqual([]);
    expect(about(`s->e [condition=${many} && =x"]`)).toMatchObject([
      expect.stringMatching(/^3:106\d{3} error condition a key/),
    ]);
  });

  it("places mistakes inside of conditions and stylesheets, escapes and joined strings counted", () => {
    expect(about(String.raw`s->e [condition="outcome=\"success\" && =x"]`)).toEqual([
      "3:41 error condition a key is missing (write key=value or key!=value, joined by && or ||)",
    ]);
    expect(about(`s->e [condition="outcome=" +\n  "sucess"]`)).toEqual([
      '4:4 warning condition no stage ever has the outcome "sucess" (there are success, partial_success, fail, retry, skipped)',
    ]);
    expect(about(`model_stylesheet="* { llm_model: a; }\n .x { colour: b; llm_model }"`)).toEqual([
      '4:7 warning stylesheet unknown property "colour" in the stylesheet: it changes nothing (there are llm_model, llm_provider, reasoning_effort)',
      "4:28 error stylesheet expected a property and its value (write llm_model: name;)",
    ]);
  });

  it.each([
    ["", "1:1 error syntax the file has no graph (a workflow is written digraph name { … })"],
    ["graph G { a -> b b -> a }", "1:1 error syntax an undirected graph has no order to run in (write digraph)"],
    ['digraph G { a [label="x] }', '1:22 error syntax this string is never closed (end it with ")'],
    ["digraph G { /* }", "1:13 error syntax this comment is never closed (end it with */)"],
    ["digraph G {\n subgraph x {\n }", "3:3 error syntax the { of line 1 is never closed (add a })"],
    [
      "digraph G { } digraph H { }",
      "1:15 error syntax there is more text after the end of the graph (one digraph a file; look for a } too many)",
    ],
    ["digraph G { a [label=x] a -> end }", "1:9 error start there is no start (add a node of shape Mdiamond)"],
    ["digraph", "1:8 error syntax the file ends before the graph's {"],
  ])("tells what is wrong with %j", (text, expected) => {
    expect(told(text)).toContain(expected);
  });
});
