import { mkdirSync } from "node:fs";
import { expect, test } from "vitest";
import { hasPty, openTerminal } from "../scenarios/pty.js";
import { emptySandbox, until } from "../scenarios/sandbox.js";

const workflow = `
workflow "plan" {
  version 2
  start "approve"
  stage "approve" kind="human" prompt="Is it good?" re_review=true {
    option "yes" label="Approve it" to="exit"
    option "revise" label="Change it" to="revise"
    require_feedback_on "revise"
  }
  stage "revise" kind="tool" command="echo $human.gate.feedback >> feedback"
  stage "exit" kind="exit"
  transition from="revise" to="approve"
}`;

const twoGates = `
workflow "two" {
  version 2
  start "both"
  stage "both" kind="parallel" join="joined" { branch "one" "other" }
  stage "one" kind="human" prompt="Is one good?" { option "yes" to="joined"; option "no" to="joined" }
  stage "other" kind="human" prompt="Is the other good?" { option "yes" to="joined"; option "no" to="joined" }
  stage "joined" kind="join"
  stage "exit" kind="exit"
  transition from="joined" to="exit"
}`;

test.skipIf(!hasPty)("E7 what a person types answers the gate that is shown, and no other that is open", async () => {
  const box = emptySandbox();
  mkdirSync(box.dir);
  box.write("two.awf.kdl", twoGates);
  const terminal = openTerminal(box, ["workflow", "run", "two.awf.kdl"]);
  await terminal.answer("yes or no", "yes\r");
  await terminal.answer("Anything to add?", "\r");
  await until("the first is answered", () => terminal.screen().includes("Answered: yes for o"));
  await terminal.answer("good?", "no\r");
  await terminal.answer("Anything to add?", "\r");
  await terminal.see("Answered: no for o");
  await terminal.see("workflow two ended: success");
  expect(await terminal.ended).toBe(0);
});

test.skipIf(!hasPty)(
  "E7 a person at the terminal is asked, decides nothing by a stray Enter or a slip, gives feedback and is asked again; no repository is needed",
  async () => {
    const box = emptySandbox();
    mkdirSync(box.dir);
    box.write("plan.awf.kdl", workflow);
    const terminal = openTerminal(box, ["workflow", "run", "plan.awf.kdl"]);
    await terminal.answer("revise: Change it (needs feedback)", "\r");
    await terminal.answer("type yes or revise", "zz\r");
    await terminal.answer("type yes or revise", "change IT\r");
    await terminal.answer("What should be different?", "\r");
    await terminal.see("this option needs feedback");
    await terminal.answer("What should be different?", "too long\r");
    await terminal.see("stage revise: success");
    await terminal.answer("revise: Change it", "yes\r");
    await terminal.answer("Anything to add?", "\r");
    await terminal.see("workflow plan ended: success");
    expect(await terminal.ended).toBe(0);
    expect(box.read("feedback")).toBe("too long\n");
  },
);

test.skipIf(!hasPty)("E7 Ctrl-D leaves the gate open, says how to answer it, and the run waits", async () => {
  const box = emptySandbox();
  mkdirSync(box.dir);
  box.write("plan.awf.kdl", workflow);
  const terminal = openTerminal(box, ["workflow", "run", "plan.awf.kdl"]);
  await terminal.answer("revise: Change it", "\x04");
  await terminal.see("approve stays open, and the run waits for it");
  await terminal.see("ratchet answer approve <yes|revise>");
  expect(await box.quick("answer")).toBe("approve: Is it good?\n  ratchet answer approve <yes|revise>\n");
  expect(JSON.parse(await box.quick("answer", "--json"))).toMatchObject([{ stage: "approve", gate: "approve" }]);
  expect(await box.quick("answer", "approve", "approve it")).toContain(": yes");
  await terminal.see("workflow plan ended: success");
  expect(await terminal.ended).toBe(0);
  expect(await box.quick("answer")).toContain("No gate is open in ");
});
