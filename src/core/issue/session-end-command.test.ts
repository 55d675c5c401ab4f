import { describe, expect, it } from "vitest";
import type { CommandEffect } from "./effects.js";
import type { IssueSignal } from "./events.js";
import { play, policyOf, type Rules, type Setup, World } from "./fixture.js";

const remediate = { failure_mode: "remediate", max_retries: 2 } as const;
const standing = ({ life }: World) => life.ledger.findings.map(({ title, status }) => `${title}: ${status}`);
const endings = [{ name: "drain" }, { name: "stop" }, { name: "abort" }] as const satisfies readonly IssueSignal[];

/** "two" fails once; the signal comes while it runs again. */
function whileAgain(signal: IssueSignal, again: ReturnType<NonNullable<Rules["command"]>> = {}): Rules {
  const tries = (world: World) => world.history.filter((one) => one.kind === "command" && one.name === "two");
  let sent = false;
  let failed = false;
  return {
    command: ({ name }) => {
      if (name !== "two") return {};
      const answer = failed ? again : { exitCode: 1 };
      failed = true;
      return answer;
    },
    before: (world) => {
      const second = tries(world)[1];
      if (sent || !second || !world.owed.has(second.key)) return null;
      sent = true;
      return signal;
    },
  };
}

function runEnd(setup: Setup, rules: Rules): World {
  return new World(policyOf(setup), { issueId: "", title: "run_end", life: 1, resume: null }).play(rules);
}

describe("a trigger's command that fails, is repaired, and passes", () => {
  it.each(endings)("C10 has closed its finding although the life is wound down by %j meanwhile", (signal) => {
    const world = play({ sessionEnd: remediate }, whileAgain(signal));
    expect(standing(world)).toEqual(["two failed: exit 1: resolved"]);
    expect(world.commands().filter((key) => key.endsWith(":three"))).toEqual([]);
    const ops = world.history.flatMap((effect) => (effect.kind === "tracker" ? [effect.op] : []));
    expect(ops).not.toContain("follow-up");
  });

  it("has closed the finding of a trigger of the run where that is drained meanwhile and the repair lands", () => {
    const world = runEnd({ runEnd: remediate }, whileAgain({ name: "drain" }));
    expect(world.life.state.ending).toMatchObject({ status: "success", commit: "c101" });
    expect(standing(world)).toEqual(["two failed: exit 1: resolved"]);
  });

  it.each(["stop", "abort"] as const)("has closed nothing where a %s keeps the repair from landing", (name) => {
    const world = runEnd({ runEnd: remediate }, whileAgain({ name }));
    expect(world.reported("finding-resolved")).toHaveLength(1);
    expect(standing(world)).toEqual(["two failed: exit 1: open"]);
  });

  it("leaves its finding open where it was ended by the stop", () => {
    const world = play({ sessionEnd: remediate }, whileAgain({ name: "stop" }, null));
    expect(standing(world)).toEqual(["two failed: exit 1: open"]);
  });

  it("is resolved, not replaced, where a later one fails", () => {
    const tries: string[] = [];
    const command = ({ stage, name, folder }: CommandEffect) => {
      if (stage === "session_end") tries.push(folder);
      return { exitCode: stage === "session_end" && (name === "three" || tries.length === 2) ? 1 : 0 };
    };
    const world = play({ sessionEnd: { ...remediate, max_retries: 1 } }, { command });
    expect(world.reported("finding-resolved").map(({ title, status }) => [title, status])).toEqual([
      ["two failed: exit 1", "resolved"],
      ["three failed: exit 1", "waived"],
    ]);
  });
});

it("a failure that has become an allowed one replaces what the command had found", () => {
  const two = { command: "run two", timeout: 60, allow_fail: true, exclusive: false };
  const first = play({ sessionEnd: remediate }, whileAgain({ name: "stop" }, null));
  const settings = { commands: { ...policyOf().settings.commands, two } };
  const begin = { issueId: "p-1", title: "Fix it", life: 2, resume: null };
  const again = new World(policyOf({ settings, sessionEnd: {} }), begin, first.life.ledger);
  again.play({ command: ({ name }) => ({ exitCode: name === "two" ? 1 : 0 }) });
  expect(standing(again)).toEqual(["two failed: exit 1: superseded"]);
});

it("what a name found that stands for two commands is closed when both have passed", () => {
  const commands = ["a", "b"].map((which) => ({ ref: "two", command: `run ${which}`, timeout: 60 }));
  const command = ({ command }: CommandEffect) => ({ exitCode: command === "run b" ? 1 : 0 });
  const world = play({ sessionEnd: { ...remediate, commands } }, { command });
  expect(world.reported("finding-raised").map(({ again = false }) => again)).toEqual([false, true, true]);
  expect(world.life.ledger.findings).toMatchObject([{ reopened: 0 }]);
});
