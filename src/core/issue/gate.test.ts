import { describe, expect, it } from "vitest";
import type { Marker, Snapshot } from "./events.js";
import { play, policyOf, type Rules, type Setup, snapshot } from "./fixture.js";

const titles = (setup: Setup, looks: Partial<Snapshot>, marker: Marker | null = null) => {
  const world = play(setup, { implement: () => ({ snapshot: snapshot(1, looks), marker }) });
  return { world, titles: world.life.ledger.findings.map((finding) => finding.title) };
};
const marked = (name: Marker["name"]): Marker => ({ name, rationale: "why" });

describe("the gate's preconditions", () => {
  it.each<[string, Partial<Snapshot>, Marker | null, string]>([
    ["no commit", { commits: 0 }, null, "No commit"],
    ["uncommitted files", { dirtyCount: 2, dirty: ["x", "y"], filesTree: "f" }, null, "Uncommitted changes"],
    ["a submodule's own commit", { unpushed: ["lib at c9"] }, null, "The commit of a submodule is not pushed"],
    ["a branch without its base", { containsBase: false }, null, "The base is not in the branch"],
    [
      "NO_CHANGE on a branch without its base",
      { commits: 0, containsBase: false },
      marked("NO_CHANGE"),
      "The base is not in the branch",
    ],
    ["NO_CHANGE with a commit", {}, marked("NO_CHANGE"), "ISSUE_NO_CHANGE does not hold"],
    ["OBSOLETE with a commit", {}, marked("OBSOLETE"), "ISSUE_OBSOLETE does not hold"],
    [
      "ALREADY_COMPLETE without a commit of the target",
      { commits: 0 },
      marked("ALREADY_COMPLETE"),
      "ISSUE_ALREADY_COMPLETE does not hold",
    ],
    ["DOCS_ONLY with code", {}, marked("DOCS_ONLY"), "ISSUE_DOCS_ONLY does not hold"],
    ["DOCS_ONLY without a commit", { commits: 0 }, marked("DOCS_ONLY"), "ISSUE_DOCS_ONLY does not hold"],
  ])("%s is the finding, and no command runs", (_, looks, marker, title) => {
    const { world, titles: found } = titles({}, looks, marker);
    expect(found).toEqual([title]);
    expect(world.commands()).toEqual([]);
    expect(world.finished()).toMatchObject({ status: "failed", error: "no_progress" });
  });

  it("names the base that the branch has lost", () => {
    const { world } = titles({}, { containsBase: false });
    expect(world.life.ledger.findings[0]?.body.text).toMatch(/^The branch no longer contains its base c0: /);
  });

  it("names the uncommitted files and says how many there are", () => {
    const { world } = titles({}, { dirtyCount: 60, dirty: ["x", "y"], filesTree: "f" });
    expect(world.life.ledger.findings[0]?.body.text).toBe("These files are not committed (60):\nx\ny\n… and 58 more");
  });

  it("has one line for each uncommitted file, whatever it is called", () => {
    const { world } = titles({}, { dirtyCount: 3, dirty: ["new\nline", "über x", "(a merge is in progress)"] });
    const lines = '"new\\nline"\nüber x\n(a merge is in progress)';
    expect(world.life.ledger.findings[0]?.body.text).toBe(`These files are not committed (3):\n${lines}`);
  });

  it("goes on once the commits of submodules are pushed one by one, which changes no tree", () => {
    const looks = [{ unpushed: ["lib at c9", "other at c8"] }, { unpushed: ["lib at c9"] }, {}];
    const world = play({}, { implement: (_turn, n) => ({ snapshot: snapshot(1, looks[n - 1] ?? {}) }) });
    expect(world.turns().map(({ prompt }) => prompt)).toEqual(["implementer", "gate_followup", "gate_followup"]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
  });

  it("a submodule's commit that the next turn leaves where it is is named, and no progress", () => {
    const left: Rules = { implement: () => ({ snapshot: snapshot(1, { unpushed: ["lib at c9"] }) }) };
    const world = play({}, left);
    expect(world.turns()).toHaveLength(2);
    expect(world.finished()).toMatchObject({ error: "no_progress", seen: { tree: "t1", unpushedCount: 1 } });
    expect(world.life.ledger.findings[0]?.body.text).toContain("\nlib at c9\nPush it");
  });

  it.each<[string, Partial<Snapshot>, Marker["name"]]>([
    ["NO_CHANGE", { commits: 0 }, "NO_CHANGE"],
    ["OBSOLETE", { commits: 0 }, "OBSOLETE"],
    ["ALREADY_COMPLETE", { commits: 0, namedCommitInTarget: true }, "ALREADY_COMPLETE"],
  ])("B3 %s that holds runs no gate command, is not reviewed, lands nothing and succeeds", (_, looks, name) => {
    const { world } = titles({ review: {}, sessionEnd: {} }, looks, marked(name));
    expect(world.commands().filter((key) => key.startsWith("gate"))).toEqual([]);
    expect(world.commands().filter((key) => key.startsWith("session_end"))).toHaveLength(3);
    expect(world.reported("review-started")).toEqual([]);
    expect(world.history.some((effect) => effect.kind === "land")).toBe(false);
    expect(world.finished()).toMatchObject({ status: "success", commit: null, message: "No review required" });
    expect(world.history.find((effect) => effect.kind === "tracker" && effect.op === "complete")).toMatchObject({
      note: `${name}: why`,
    });
  });

  it("B3 DOCS_ONLY is gated and landed, but not reviewed", () => {
    const { world } = titles({ review: {} }, { docsOnly: true }, marked("DOCS_ONLY"));
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint"]);
    expect(world.reported("review-started")).toEqual([]);
    expect(world.finished()).toMatchObject({ status: "success", commit: "c1" });
  });
});

describe("the gate's commands", () => {
  it("all run, in order, whatever the first says, and a finding tells what a person needs", () => {
    const world = play(
      {},
      {
        command: (effect) =>
          effect.name === "test" && effect.key < "gate:2"
            ? { exitCode: 3, digest: "2 tests failed", tails: "stdout: x" }
            : {},
      },
    );
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint", "gate:2:test", "gate:2:lint"]);
    const [finding] = world.life.ledger.findings;
    expect(finding).toMatchObject({
      stage: "gate",
      source: "gate",
      file: "",
      priority: 1,
      status: "resolved",
      reviewer: "test",
    });
    expect(finding?.title).toBe("test failed: exit 3: 2 tests failed");
    for (const part of ["Exit code: 3", "Duration: 2.0 s", "Run again: npm test", "stdout: x"]) {
      expect(finding?.body.text).toContain(part);
    }
  });

  it("remembers what passed on a tree, and only that", () => {
    const world = play(
      {},
      {
        implement: (_, n) => ({ snapshot: snapshot(n === 2 ? 2 : 1) }),
        command: (effect) => ({ exitCode: effect.name === "lint" && effect.key < "gate:3" ? 1 : 0 }),
      },
    );
    expect(world.commands()).toEqual(["gate:1:test", "gate:1:lint", "gate:2:test", "gate:2:lint", "gate:3:lint"]);
    expect(world.finished()?.status).toBe("success");
  });

  it("a failure that is allowed is no finding", () => {
    const commands = {
      ...policyOf().settings.commands,
      lint: { command: "lint", timeout: 5, allow_fail: true, exclusive: false },
    };
    const world = play(
      { settings: { commands } },
      { command: (effect) => ({ exitCode: effect.name === "lint" ? 1 : 0 }) },
    );
    expect(world.finished()?.status).toBe("success");
    expect(world.life.ledger.findings).toEqual([]);
  });

  it.each([[0], [1]])("max_gate_retries %i means one judgement and no fix turn", (max_gate_retries) => {
    const world = play({ settings: { max_gate_retries } }, { command: () => ({ exitCode: 1 }) });
    expect(world.turns()).toHaveLength(1);
    expect(world.finished()).toMatchObject({ status: "failed", error: "gate_failed" });
  });

  it("C2 exhausted: session_end runs no command and is skipped, gate_failed", () => {
    const world = play({ sessionEnd: {} }, { command: () => ({ exitCode: 1 }) });
    expect(world.finished()).toMatchObject({ status: "failed", error: "gate_failed", last_review_issues: null });
    expect(world.reported("session-end-skipped")).toMatchObject([{ reason: "gate_failed" }]);
    expect(world.reported("session-end-started")).toEqual([]);
    expect(world.finished()?.counters.gate_attempts).toBe(3);
  });

  it("an unchanged tree after a failed gate is judged again, then it is no progress", () => {
    const stuck = { implement: () => ({ snapshot: snapshot(1) }) };
    const bad = play({}, { ...stuck, command: () => ({ exitCode: 1 }) });
    expect(bad.finished()).toMatchObject({ error: "no_progress" });
    expect(bad.reported("gate-failed")).toHaveLength(2);
    const flaky = play({}, { ...stuck, command: (_, n) => ({ exitCode: n === 1 ? 1 : 0 }) });
    expect(flaky.finished()?.status).toBe("success");
  });

  it("a second failure supersedes what it no longer reports and keeps what it does", () => {
    const world = play(
      {},
      {
        command: (effect) => {
          if (effect.key.startsWith("gate:1")) return { exitCode: 1 };
          return { exitCode: effect.key === "gate:2:lint" ? 1 : 0 };
        },
      },
    );
    const by = Object.fromEntries(world.life.ledger.findings.map((finding) => [finding.reviewer, finding.status]));
    expect(by).toEqual({ test: "superseded", lint: "resolved" });
  });

  it("what a command reported stays open until that command has run again, whatever the commit itself is at fault for", () => {
    const dirty = { dirtyCount: 1, dirty: ["x"], filesTree: "f" };
    const world = play(
      { settings: { max_gate_retries: 2 } },
      {
        command: (effect) => ({ exitCode: effect.name === "test" ? 1 : 0 }),
        implement: (_, n) => ({ snapshot: snapshot(n, n === 1 ? {} : dirty) }),
      },
    );
    expect(world.finished()).toMatchObject({ error: "gate_failed" });
    const by = Object.fromEntries(world.life.ledger.findings.map((finding) => [finding.reviewer, finding.status]));
    expect(by).toEqual({ test: "open", gate: "open" });
  });

  it("a command that cannot be run fails the life: never a pass, and no finding for the agent", () => {
    const world = play({}, { command: () => null });
    world.arrive({ type: "crashed", key: "gate:1:test", effect: "command", message: "no space left" });
    expect(world.life.state.ending).toMatchObject({ status: "failed", error: "command_failed_to_run" });
    expect(world.life.state.ending?.message).toContain("no space left");
    expect(world.life.ledger.findings).toEqual([]);
  });
});
