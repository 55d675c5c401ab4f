import { expect, test } from "vitest";
import { triggerNames } from "../../config/rules.js";
import { type Answers, defaultAnswers, type Found } from "./answers.js";
import { type Asker, askAll, cancelled, type Kinds, type Topic } from "./question.js";
import { agentRemark, questions } from "./questions.js";
import { readStacks } from "./stacks.js";

const scripts = { test: "vitest", lint: "biome" };
const found: Found = {
  ...readStacks({ "package.json": JSON.stringify({ scripts }), "package-lock.json": "" }),
  agents: [
    { program: "claude", type: "claude", command: [], isOnPath: true, isAvailable: false, canReview: false },
    { program: "codex", type: "codex", command: [], isOnPath: false, isAvailable: true, canReview: true },
    {
      program: "gemini",
      type: "acp",
      command: ["gemini", "--acp"],
      isOnPath: true,
      isAvailable: true,
      canReview: true,
    },
  ],
  reviewers: [
    { type: "cerberus", missing: "cerberus is not on PATH" },
    { type: "command", missing: null },
    { type: "panel", missing: null },
  ],
  triggers: triggerNames,
  triggerReviews: true,
};

type Reply = string | boolean | readonly string[] | typeof cancelled;
interface Asked {
  readonly messages: string[];
  readonly prompts: Map<string, Kinds[keyof Kinds]["prompt"]>;
  readonly answers: Answers | typeof cancelled;
}

/** Takes every default but the given ones, by a piece of the message. */
async function walk(
  replies: Readonly<Record<string, Reply>>,
  { world = found, given = [] }: { world?: Found; given?: readonly Topic[] } = {},
): Promise<Asked> {
  const messages: string[] = [];
  const prompts = new Map<string, Kinds[keyof Kinds]["prompt"]>();
  const reply = <V>(prompt: Kinds[keyof Kinds]["prompt"], initial: V): V | typeof cancelled => {
    const text = "message" in prompt ? prompt.message : prompt.title;
    messages.push(text);
    prompts.set(text, prompt);
    const key = Object.keys(replies).find((piece) => text.includes(piece));
    return key === undefined ? initial : (replies[key] as V);
  };
  const asker: Asker = {
    tell: async (prompt) => reply(prompt, null),
    one: async (prompt) => reply(prompt, prompt.initial),
    some: async (prompt) => reply(prompt, prompt.initial),
    text: async (prompt) => reply(prompt, prompt.initial),
    confirm: async (prompt) => reply(prompt, prompt.initial),
  };
  const start = { found: world, answers: defaultAnswers(world), given: new Set(given) };
  return { messages, prompts, answers: await askAll(questions, asker, start) };
}

const declined = [
  "Which commands does the project start from?",
  "Agents",
  "Who implements the issues?",
  "Which commands does the project have?",
  "Which of them must pass on a commit before an issue is done?",
  "Per-issue review",
  "Enable per-issue review?",
  "When should checks run besides the gate?",
];

test("B9 the order is preset, agent, commands, evidence, per-issue review, then triggers", async () => {
  const { messages, answers } = await walk({});
  expect(messages).toEqual(declined);
  expect(answers).toEqual(defaultAnswers(found));
  expect(answers).toMatchObject({ agent: { type: "acp", command: ["gemini", "--acp"] }, review: null });
});

test("B9 accepting asks who reviews, how often and what blocks, after saying what else it decides", async () => {
  const { messages, prompts, answers } = await walk({
    "Enable per-issue": true,
    "Which program reviews": "rev --strict",
    "How many rounds": "5",
    "Which findings": "P2",
  });
  const from = messages.indexOf("Per-issue review");
  expect(messages.slice(from)).toEqual([
    "Per-issue review",
    "Enable per-issue review?",
    "Who reviews?",
    "Which program reviews, with which arguments?",
    "How many rounds of review does an issue get?",
    "Which findings keep an issue from landing?",
    "When should checks run besides the gate?",
  ]);
  expect(prompts.get("Per-issue review")).toMatchObject({
    text: expect.stringContaining("determines the reviewer of all reviews, trigger reviews included"),
  });
  expect(answers).toMatchObject({
    review: { type: "command", command: ["rev", "--strict"], maxRetries: 5, threshold: "P2" },
  });
});

test("an agent that reviews is asked for, another vendor's first", async () => {
  const world: Found = { ...found, reviewers: [{ type: "agent_sdk", missing: null }, ...found.reviewers] };
  const codexToo = world.agents.map((one) => (one.program === "codex" ? { ...one, isOnPath: true } : one));
  const { prompts, answers } = await walk(
    { "Who implements": "codex", "Enable per-issue": true },
    { world: { ...world, agents: codexToo } },
  );
  expect(prompts.get("Which agent reviews?")).toMatchObject({ initial: "gemini" });
  expect(answers).toMatchObject({
    review: { type: "agent_sdk", agent: { type: "acp", command: ["gemini", "--acp"] } },
  });
  const own = await walk(
    { "Enable per-issue": true, "Which agent reviews": "command", "Which program is that agent": "my agent" },
    { world },
  );
  expect(own.answers).toMatchObject({ review: { agent: { type: "command", command: ["my", "agent"] } } });
});

test("a panel asks for one member after the other, each with its kind and name", async () => {
  const world: Found = { ...found, reviewers: [{ type: "agent_sdk", missing: null }, ...found.reviewers] };
  const { messages, prompts, answers } = await walk(
    {
      "Enable per-issue": true,
      "Who reviews": "panel",
      "Reviewer 1: What is it called": "security",
      "Reviewer 2: What kind": "command",
      "Reviewer 2: Which program": "./Style.sh -x",
    },
    { world },
  );
  expect(
    messages.slice(
      messages.indexOf("Who reviews?") + 1,
      messages.indexOf("Which findings keep an issue from landing?"),
    ),
  ).toEqual([
    "Reviewer 1: What kind of reviewer?",
    "Reviewer 1: Which agent reviews?",
    "Reviewer 1: What is it called?",
    "A reviewer 2 too?",
    "Reviewer 2: What kind of reviewer?",
    "Reviewer 2: Which program reviews, with which arguments?",
    "Reviewer 2: What is it called?",
    "A reviewer 3 too?",
    "How many rounds of review does an issue get?",
  ]);
  expect(answers).toMatchObject({
    review: {
      type: "panel",
      members: [
        { name: "security", type: "agent_sdk", agent: { type: "acp" } },
        { name: "style", type: "command", command: ["./Style.sh", "-x"] },
      ],
    },
  });
  const name = prompts.get("Reviewer 2: What is it called?");
  if (name === undefined || !("check" in name)) throw new Error("the name is asked");
  expect(["security", "Bad", "", "fine_1"].map((text) => name.check(text) === null)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

test("another kind of reviewer needs no program", async () => {
  const { messages, answers } = await walk({ "Enable per-issue": true, "Who reviews": "cerberus" });
  expect(messages).not.toContain("Which program reviews, with which arguments?");
  expect(answers).toMatchObject({ review: { type: "cerberus" } });
});

test("an installed agent that cannot be driven is shown, told about and not for choosing", async () => {
  const { prompts } = await walk({});
  const options = [
    { value: "claude", label: "claude", hint: "installed, not available yet", disabled: true },
    { value: "codex", label: "codex", hint: "not on PATH" },
    { value: "gemini", label: "gemini", hint: "installed" },
    expect.objectContaining({ value: "command" }),
  ];
  expect(prompts.get("Who implements the issues?")).toMatchObject({ options, initial: "gemini" });
  expect(agentRemark(found)).toMatch(/^claude is installed, but this version cannot drive it by name yet/);
});

test("an agent that is a program asks which", async () => {
  const { answers } = await walk({ "Who implements": "command", "Which program, with": "my 'own agent'" });
  expect(answers).toMatchObject({ agent: { type: "command", command: ["my", "own agent"] } });
});

test("another preset brings its own commands, and without any the tests are asked for", async () => {
  const { messages, answers } = await walk({ "start from": "none", "runs the tests": " make test " });
  expect(messages).toContain("Which command line runs the tests? Leave it empty if there is none.");
  expect(answers).toMatchObject({ preset: null, commands: { test: "make test" }, required: ["test"] });
});

test("a command that is switched off is no evidence", async () => {
  const { answers } = await walk({ "does the project have": ["test"] });
  expect(answers).toMatchObject({ commands: { test: "npm test" }, required: ["test"] });
});

test("triggers are offered as far as they are available", async () => {
  const { prompts, messages } = await walk({}, { world: { ...found, triggers: ["run_end"] } });
  expect(prompts.get("When should checks run besides the gate?")).toMatchObject({ options: [{ value: "run_end" }] });
  expect(messages).toEqual(declined);
  const none = await walk({}, { world: { ...found, triggers: [] } });
  expect(none.messages).toEqual(declined.slice(0, -1));
});

test("each chosen trigger is asked for what it needs", async () => {
  const { messages, answers } = await walk({
    "Enable per-issue": true,
    "besides the gate": ["session_end", "periodic"],
    "commands at session_end": ["lint"],
    "session_end fails": "remediate",
    "How many fixers": "2",
    "A review at session_end": true,
    "After how many": "9",
  });
  expect(messages.slice(messages.indexOf("When should checks run besides the gate?") + 1)).toEqual([
    "Which commands at session_end?",
    "What happens when session_end fails?",
    "How many fixers may session_end send?",
    "A review at session_end too, by the same reviewer?",
    "After how many finished issues does periodic run?",
    "Which commands at periodic?",
    "What happens when periodic fails?",
    "A review at periodic too, by the same reviewer?",
  ]);
  expect(answers).toMatchObject({
    triggers: [
      { name: "session_end", commands: ["lint"], failureMode: "remediate", maxRetries: 2, codeReview: true },
      { name: "periodic", commands: ["test", "lint"], failureMode: "continue", interval: 9, codeReview: false },
    ],
  });
});

test("run_end and epic_completion ask on what they run, and which epics count", async () => {
  const { messages, answers } = await walk({
    "besides the gate": ["epic_completion", "run_end"],
    "On what does run_end": "both",
    "Which epics": "all",
  });
  expect(messages.filter((text) => /On what|Which epics/.test(text))).toEqual([
    "On what does epic_completion run?",
    "Which epics count for epic_completion?",
    "On what does run_end run?",
  ]);
  expect(answers).toMatchObject({
    triggers: [
      { name: "epic_completion", fireOn: "success", epicDepth: "all" },
      { name: "run_end", fireOn: "both" },
    ],
  });
});

test("what the command line has answered is not asked", async () => {
  const given: Topic[] = ["preset", "agent", "commands", "evidence", "review", "triggers"];
  expect((await walk({}, { given })).messages).toEqual([]);
  expect((await walk({}, { given: ["agent", "review"] })).messages).toEqual(
    declined.filter((text) => !/Agents|Who implements|review/.test(text)),
  );
});

test.each(declined)("no further at %j ends the asking", async (message) => {
  const { messages, answers } = await walk({ [message]: cancelled });
  expect([messages.at(-1), answers]).toEqual([message, cancelled]);
});

test.each([
  ["How many rounds", ["-1", "x", "", "1.5"], ["0", " 3 "]],
  ["Which program reviews", ["", "'x"], ["x"]],
])("%s refuses %j and takes %j", async (piece, bad, good) => {
  const { prompts } = await walk({ "Enable per-issue": true });
  const [, prompt] = [...prompts].find(([message]) => message.includes(piece)) ?? [];
  if (prompt === undefined || !("check" in prompt)) throw new Error(`${piece} is not asked`);
  for (const text of bad) expect(prompt.check(text)).not.toBeNull();
  for (const text of good) expect(prompt.check(text)).toBeNull();
});
