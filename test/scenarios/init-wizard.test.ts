import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { hasPty, openTerminal } from "./pty.js";
import { type Sandbox, sandbox } from "./sandbox.js";

/** Needs Python: it lends a terminal to the program. */
const testInTerminal = test.skipIf(!hasPty);

const enter = "\r";
const down = "\u001b[B";
/** From the first option to the last. */
const up = "\u001b[A";
const ctrlC = "\u0003";

function nodeProject(): Sandbox {
  const box = sandbox();
  box.write("package.json", JSON.stringify({ scripts: { test: "true", lint: "true" } }));
  return box;
}

testInTerminal("B9 the wizard asks about per-issue review before triggers, and declining leaves no key", async () => {
  const box = nodeProject();
  const terminal = openTerminal(box, ["init"]);
  await terminal.answer("Which commands does the project start from?", enter);
  await terminal.answer("Who implements the issues?", up + enter);
  await terminal.answer("Which program, with which arguments?", `my-agent 'a b'${enter}`);
  await terminal.answer("Which commands does the project have?", enter);
  await terminal.answer("Which of them must pass", enter);
  await terminal.see("Enabling it also determines the reviewer of all reviews, trigger reviews");
  await terminal.answer("Enable per-issue review?", "n");
  await terminal.answer("When should checks run besides the gate?", enter);
  await terminal.see("command: [my-agent, a b]");
  expect(existsSync(join(box.dir, "ratchet.yaml"))).toBe(false);
  await terminal.answer("Write it?", "y");
  expect(await terminal.ended).toBe(0);
  const text = box.read("ratchet.yaml");
  expect(text).toContain("required: [test, lint]");
  expect(text).not.toContain("per_issue_review");
  expect((await box.ratchet("config", "check")).code).toBe(0);
});

testInTerminal("where a terminal is told to be none, that is the reason why nothing is asked", async () => {
  const box = nodeProject();
  const terminal = openTerminal({ ...box, env: { ...box.env, CI: "1" } }, ["init"]);
  await terminal.see("CI is set, so nothing can be asked");
  expect(await terminal.ended).toBe(2);
});

testInTerminal(
  "B9 accepting asks reviewer type, max_retries and finding_threshold, and keeps the old file",
  async () => {
    const box = nodeProject();
    box.write("ratchet.yaml", "# mine\n");
    const terminal = openTerminal(box, ["init", "--agent-command", "my-agent"]);
    await terminal.answer("start from?", enter);
    await terminal.answer("does the project have?", enter);
    await terminal.answer("must pass", enter);
    await terminal.see("all reviews, trigger reviews");
    await terminal.answer("Enable per-issue review?", "y");
    // Nothing is on PATH: a program of one's own is the guess.
    await terminal.answer("Who reviews?", enter);
    await terminal.answer("Which program reviews", `rev${enter}`);
    await terminal.answer("How many rounds of review", `\u007f5${enter}`);
    await terminal.answer("Which findings keep", `${down}${down}${enter}`);
    await terminal.answer("When should checks run", enter);
    await terminal.answer("Write it? The ratchet.yaml that is there is kept", "y");
    await terminal.see("The earlier one is ratchet.yaml.bak");
    expect(await terminal.ended).toBe(0);
    expect(terminal.screen()).not.toContain("Who implements the issues?");
    expect(box.read("ratchet.yaml.bak")).toBe("# mine\n");
    expect(box.read("ratchet.yaml")).toMatch(
      /reviewer_type: command\n {2}command: \[rev\]\n {2}max_retries: 5 .*\n {2}finding_threshold: P1 /,
    );
    expect((await box.ratchet("config", "check")).code).toBe(0);
  },
);

testInTerminal("a panel asks for its members, and run_end on what it runs", async () => {
  const box = nodeProject();
  box.write("codex", "#!/bin/sh\n");
  chmodSync(join(box.dir, "codex"), 0o755);
  const terminal = openTerminal(box, [
    "init",
    "--preset",
    "node-npm",
    "--agent-command",
    "my-agent",
    "--required",
    "test",
  ]);
  await terminal.answer("does the project have?", enter);
  await terminal.answer("Enable per-issue review?", "y");
  await terminal.answer("Who reviews?", `${up}${enter}`);
  await terminal.answer("Reviewer 1: What kind of reviewer?", enter);
  await terminal.answer("Reviewer 1: Which agent reviews?", enter);
  await terminal.answer("Reviewer 1: What is it called?", enter);
  await terminal.answer("A reviewer 2 too?", "y");
  await terminal.answer("Reviewer 2: What kind of reviewer?", enter);
  await terminal.answer("Reviewer 2: Which program reviews", `rev -x${enter}`);
  await terminal.answer("Reviewer 2: What is it called?", enter);
  await terminal.answer("A reviewer 3 too?", "n");
  await terminal.answer("How many rounds of review", enter);
  await terminal.answer("Which findings keep", enter);
  await terminal.answer("When should checks run", `${down}${down} ${enter}`);
  await terminal.answer("On what does run_end run?", `${up}${enter}`);
  await terminal.answer("Which commands at run_end?", enter);
  await terminal.answer("What happens when run_end fails?", enter);
  await terminal.answer("A review at run_end too", "n");
  await terminal.answer("Write it?", "y");
  expect(await terminal.ended).toBe(0);
  expect(parse(box.read("ratchet.yaml"))).toMatchObject({
    per_issue_review: {
      reviewer_type: "panel",
      panel: [
        { name: "codex", reviewer_type: "agent_sdk", agent_sdk_agent: { type: "codex" } },
        { name: "rev", reviewer_type: "command", command: ["rev", "-x"] },
      ],
    },
    validation_triggers: { run_end: { fire_on: "both", commands: ["test"] } },
  });
  expect((await box.ratchet("config", "check")).code).toBe(0);
});

const ctrlD = "\u0004";
const ways = [
  ["Ctrl-C", ctrlC],
  ["Ctrl-D", ctrlD],
] as const;
const places = ["start from?", "Which program, with", "must pass", "Enable per-issue review?", "Write it?"];

testInTerminal.each(ways.flatMap(([name, key]) => places.map((where) => [name, where, key] as const)))(
  "%s at %j writes nothing, gives the cursor back and exits 130",
  async (_name, where, key) => {
    const box = nodeProject();
    box.write("ratchet.yaml", "# mine\n");
    const terminal = openTerminal(box, ["init"]);
    const answers: [string, string][] = [
      ["start from?", enter],
      ["Who implements the issues?", up + enter],
      ["Which program, with", `my-agent${enter}`],
      ["does the project have?", enter],
      ["must pass", enter],
      ["Enable per-issue review?", "n"],
      ["When should checks run", enter],
    ];
    for (const [text, keys] of answers) {
      if (text === where) break;
      await terminal.answer(text, keys);
    }
    await terminal.answer(where, key);
    await terminal.see("Nothing is written.");
    expect(await terminal.ended).toBe(130);
    expect(terminal.raw().lastIndexOf("\u001b[?25h")).toBeGreaterThan(terminal.raw().lastIndexOf("\u001b[?25l"));
    expect(box.read("ratchet.yaml")).toBe("# mine\n");
    expect(existsSync(join(box.dir, "ratchet.yaml.bak"))).toBe(false);
  },
);

testInTerminal("in a folder of the repository the wizard says where the file is", async () => {
  const box = nodeProject();
  mkdirSync(join(box.dir, "deep"));
  const flags = ["--preset", "node-npm", "--agent-command", "my-agent", "--required", "none", "--review", "none"];
  const terminal = openTerminal({ ...box, dir: join(box.dir, "deep") }, ["init", ...flags]);
  await terminal.answer("does the project have?", enter);
  await terminal.answer("When should checks run", enter);
  await terminal.answer("Write it?", "y");
  await terminal.see("../ratchet.yaml is written.");
  expect(await terminal.ended).toBe(0);
  expect(existsSync(join(box.dir, "ratchet.yaml"))).toBe(true);
});
