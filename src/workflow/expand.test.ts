import { describe, expect, it } from "vitest";
import { expand, expandForShell, referencesIn } from "./expand.js";

const values: Record<string, string> = { goal: "ship $plan.response", "plan.response": "the plan", a: "A" };
const lookup = (name: string) => values[name];

describe("expansion", () => {
  it.each([
    ["do $goal now", "do ship $plan.response now"],
    ["$plan.response.", "the plan."],
    ["$plan.response.txt and $a-b", "the plan.txt and A-b"],
    ["$HOME $5 $$ $unknown.thing", "$HOME $5 $$ $unknown.thing"],
    ["", ""],
  ])("inserts values once and leaves unknown names: %s", (text, expected) => {
    expect(expand(text, lookup)).toBe(expected);
  });

  it("names the values that a text may need", () => {
    expect(referencesIn("$plan.response.txt $a")).toEqual(["plan.response.txt", "plan.response", "plan", "a"]);
  });

  it("hands values to a shell as variables, never as code", () => {
    const evil = (name: string) => (name === "x" ? "'; rm -rf / #" : undefined);
    const variable = "$" + "{RATCHET_VALUE_1}";
    const none = () => false;
    expect(expandForShell(`echo $x "$x" '$x' \\$x $HOME`, evil, none)).toEqual({
      command: `echo ${variable} "${variable}" ''"${variable}"'' \\$x $HOME`,
      env: { RATCHET_VALUE_1: "'; rm -rf / #" },
    });
    expect(expandForShell('echo "it\'s $a"', lookup, none).command).toBe(`echo "it's ${variable}"`);
  });

  it("hands a name of the workflow that has no value to the program as it is written, and leaves others to the shell", () => {
    const isOurs = (name: string) => name === "tool.output" || name === "a.status";
    const variable = "$" + "{RATCHET_VALUE_1}";
    expect(expandForShell("echo $tool.output.txt; for f in *; do cat $f.txt $tool; done", lookup, isOurs)).toEqual({
      command: `echo ${variable}.txt; for f in *; do cat $f.txt $tool; done`,
      env: { RATCHET_VALUE_1: "$tool.output" },
    });
    expect(expandForShell("echo $a.status", lookup, isOurs).env).toEqual({ RATCHET_VALUE_1: "A" });
  });
});
