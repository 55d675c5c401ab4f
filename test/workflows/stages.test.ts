import { existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf } from "../scenarios/sandbox.js";
import { outcomesOf, runOf, workflowWorld } from "./world.js";

const choices = `
workflow "choices" {
  version 2
  start "fast"
  models {
    default "small"
    profile "small" model="m-small" provider="anthropic" reasoning_effort="low"
    profile "big" model="m-big" reasoning_effort="high"
  }
  stage "fast" kind="llm" prompt_file="prompts/fast.md, prompts/more.md"
  stage "deep" kind="llm" prompt="x" model_profile="big"
  stage "own" kind="llm" prompt="x" model_profile="big" model="m-own"
  stage "below" kind="tool" command="ln -s ../.. away; pwd" cwd="sub"
  stage "late" kind="tool" command="sleep 60" timeout="200ms"
  stage "outside" kind="tool" command="pwd" cwd="sub/away"
  stage "missing" kind="tool" command="no-such-program-at-all"
  stage "last" kind="llm" prompt="Fix what is left" {
    retry max_attempts=3 backoff="none"
  }
  stage "exit" kind="exit"
  transition from="fast" to="deep"
  transition from="deep" to="own"
  transition from="own" to="below"
  transition from="below" to="late"
  transition from="late" to="outside" when="outcome(\\"late\\") == \\"fail\\""
  transition from="outside" to="missing" when="outcome(\\"outside\\") != \\"success\\""
  transition from="missing" to="last" when="outcome(\\"missing\\") == \\"fail\\""
  transition from="last" to="exit"
}`;

test("E3 E10 model profiles, prompt files, tool cwd and timeout and retries take effect, and a failing tool says how", async () => {
  const world = workflowWorld();
  world.agent(
    'last) echo "$RATCHET_VISIT $RATCHET_ATTEMPT" >> ../tries; test "$RATCHET_ATTEMPT" = 3 && echo done || exit 1 ;;\n*) echo "$RATCHET_ROLE $RATCHET_PROMPT_KIND $RATCHET_MODEL $RATCHET_EFFORT" ;;',
  );
  world.workflow(".ratchet/workflows/choices.awf.kdl", choices);
  world.write(".ratchet/workflows/prompts/fast.md", "First: $goal");
  world.write(".ratchet/workflows/prompts/more.md", "And more.");
  world.write("sub/keep", "");
  symlinkSync("loop", join(world.dir, "loop"));
  const ended = await world.run("choices", "--goal", "a $goal of its own", "--json");
  expect([ended.code, ended.stderr]).toEqual([0, ""]);
  const run = runOf(ended);
  const at = (folder: string) => join(world.home, "runs", run, "_run", folder);
  const read = (folder: string, file: string) => world.read(join("..", "home", "runs", run, "_run", folder, file));
  expect(["01-fast", "02-deep", "03-own"].map((folder) => read(folder, "transcript.jsonl").trim())).toEqual([
    "stage stage m-small low",
    "stage stage m-big high",
    "stage stage m-own high",
  ]);
  expect(read("01-fast", "prompt.md")).toContain("First: a $goal of its own\n\nAnd more.\n");
  expect(read("04-below", "stdout.log").trim()).toBe(join(world.dir, "sub"));
  expect(existsSync(at("08-last"))).toBe(true);
  expect(world.read("../tries")).toBe("1 1\n1 2\n1 3\n");
  const reasons = eventsOf(ended).flatMap((event) =>
    event.type === "stage-ended" && event.reason !== null ? [`${event.stage}: ${event.reason}`] : [],
  );
  expect(reasons).toEqual([
    "late: timed out after 0.2 s",
    "outside: cwd sub/away is no folder inside of the checkout",
    expect.stringContaining("missing: "),
  ]);
  const found = await world.findings(run, false);
  expect(found.map(({ stage, body }) => [stage, /not found \(exit code/.test(String(body))])).toEqual([
    ["late", false],
    ["outside", true],
    ["missing", true],
  ]);
});

test("without ratchet.yaml tools run and an agent's stage is refused with a hint; files that are wrong are refused before anything starts", async () => {
  const world = workflowWorld();
  const tool = 'stage "a" kind="tool" command="echo hi > ran"';
  const file = (stage: string, more = "") =>
    `workflow "w" {\n  version 2\n  start "a"\n  ${stage}\n  stage "exit" kind="exit"\n  transition from="a" to="exit"\n${more}}\n`;
  world.workflow("tool.awf.kdl", file(tool));
  world.workflow("llm.awf.kdl", file('stage "a" kind="llm" prompt="x"'));
  world.workflow("bad.awf.kdl", file(tool, '  transition from="a" to="nowhere"\n'));
  world.workflow("files.awf.kdl", file('stage "a" kind="llm" prompt_file="none.md, a.md\\u{0}"'));
  symlinkSync("loop.awf.kdl", join(world.dir, "loop.awf.kdl"));
  const [ran, refused, invalid, unknown, checked, missing, listed, drawn, planned, asJson, loop, noDot, noRun] =
    await Promise.all([
      world.run("tool.awf.kdl"),
      world.run("llm.awf.kdl"),
      world.run("bad.awf.kdl"),
      world.run("no-such-thing"),
      world.ratchet("workflow", "validate", "bad.awf.kdl", "--json"),
      world.ratchet("workflow", "validate", "files.awf.kdl"),
      world.ratchet("workflow", "list", "--json"),
      world.ratchet("workflow", "show", "tool.awf.kdl", "--format", "mermaid"),
      world.run("tool.awf.kdl", "--dry-run"),
      world.run("tool.awf.kdl", "--dry-run", "--json"),
      world.ratchet("workflow", "validate", "loop.awf.kdl"),
      world.ratchet("workflow", "show", "bad.awf.kdl", "--format", "dot"),
      world.run("tool.awf.kdl", "--dry-run", "--resume", "none"),
    ]);
  expect([ran.code, world.read("ran")]).toEqual([0, "hi\n"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("hint: ratchet init")]);
  expect([invalid.code, invalid.stderr]).toEqual([2, expect.stringMatching(/bad\.awf\.kdl:7:\d+: error: .*nowhere/)]);
  expect(unknown.code).toBe(2);
  const { diagnostics } = JSON.parse(checked.stdout);
  expect([checked.code, diagnostics[0]]).toMatchObject([1, { severity: "error", line: 7 }]);
  expect([missing.code, missing.stdout]).toEqual([
    1,
    expect.stringMatching(/files\.awf\.kdl:4:\d+: error: .*none\.md/),
  ]);
  expect(JSON.parse(listed.stdout).map(({ name }: { name: string }) => name)).toContain("quick-dev");
  expect([drawn.code, drawn.stdout]).toEqual([0, expect.stringContaining("flowchart")]);
  expect([planned.code, planned.stdout]).toEqual([0, "a (tool)\nexit (exit)\n"]);
  expect(JSON.parse(asJson.stdout).stages).toEqual([
    { id: "a", kind: "tool" },
    { id: "exit", kind: "exit" },
  ]);
  expect([noRun.code, noRun.stdout, noRun.stderr]).toEqual([1, "", expect.stringContaining("no run none")]);
  expect([noDot.code, noDot.stdout, noDot.stderr]).toEqual([1, "", expect.stringContaining("nowhere")]);
  expect([loop.code, loop.stderr]).toEqual([1, expect.stringMatching(/^ratchet: there is no workflow/)]);
});

const workspaces = (conflict: string) => `
workflow "spaces" {
  version 2
  start "make"
  stage "make" kind="workspace.create" workspace_name="side"
  stage "work" kind="tool" command="echo side > both; git add -A; git commit -qm side; pwd"
  stage "merge" kind="workspace.merge" workspace_name="side"
  stage "clean" kind="workspace.cleanup" workspace_name="side"
  stage "after" kind="tool" command="cat both${conflict}"
  stage "exit" kind="exit"
  transition from="make" to="work"
  transition from="work" to="merge"
  transition from="merge" to="clean" when="outcome(\\"merge\\") == \\"success\\""
  transition from="merge" to="exit" when="outcome(\\"merge\\") != \\"success\\""
  transition from="clean" to="after"
  transition from="after" to="exit"
}`;

test("a workspace whose checkout has moved on is cleaned up: merged work is gone from it, work that is not is parked", async () => {
  const [world, other] = [workflowWorld(), workflowWorld()];
  const moved = ({ dir }: typeof world) =>
    workspaces("").replace('pwd"', `git -C '${dir}' commit -q --allow-empty -m mine"`);
  world.workflow("spaces.awf.kdl", moved(world));
  other.workflow(
    "spaces.awf.kdl",
    moved(other).replace('kind="workspace.merge" workspace_name="side"', 'kind="tool" command="true"'),
  );
  const [merged, left] = await Promise.all([
    world.run("spaces.awf.kdl", "--json"),
    other.run("spaces.awf.kdl", "--json"),
  ]);
  expect([outcomesOf(merged)[3], outcomesOf(left)[3]]).toEqual(["clean 1 success", "clean 1 success"]);
  const parked = async ({ ratchet }: typeof world) => (await ratchet("worktree", "list", "--json")).stdout;
  expect([await parked(world), await parked(other)]).toEqual(["[]\n", expect.stringContaining("parked")]);
});

test("a workspace is a worktree of its own, merged into the checkout's branch; what conflicts fails and leaves the checkout as it was", async () => {
  const [world, other] = [workflowWorld(), workflowWorld()];
  world.workflow("spaces.awf.kdl", workspaces(""));
  other.workflow(
    "spaces.awf.kdl",
    workspaces("").replace('pwd"', `cd '${other.dir}' && echo mine > both && git add both && git commit -qm mine"`),
  );
  const [merged, conflict] = await Promise.all([
    world.run("spaces.awf.kdl", "--json"),
    other.run("spaces.awf.kdl", "--json"),
  ]);
  expect([merged.code, merged.stderr]).toEqual([0, ""]);
  expect(world.read("both")).toBe("side\n");
  expect(outcomesOf(merged)).toEqual(
    ["make", "work", "merge", "clean", "after", "exit"].map((stage) => `${stage} 1 success`),
  );
  expect(outcomesOf(conflict)).toContain("merge 1 fail");
  const reason = eventsOf(conflict).find((event) => event.type === "stage-ended" && event.stage === "merge");
  expect(reason).toMatchObject({ reason: "it conflicts in both" });
  expect([other.read("both"), other.git("status", "--porcelain", "both")]).toEqual(["mine\n", ""]);
});

test("a mirror that was damaged is mended by a workspace of a workflow, and by gc, and they say so", async () => {
  const world = workflowWorld();
  world.configure({ agent: { type: "command", command: ["true"] } });
  world.workflow("spaces.awf.kdl", workspaces(""));
  expect((await world.run("spaces.awf.kdl")).code).toBe(0);
  const mirror = join(world.home, "repos", "shop.git");
  const told = `ratchet: ${mirror} was damaged and is mended from your repository and the worktrees\n`;
  for (const command of [["workflow", "run", "spaces.awf.kdl"], ["gc"]]) {
    rmSync(join(mirror, "HEAD"));
    expect(await world.ratchet(...command)).toMatchObject({ code: 0, stderr: told });
  }
});

test("E8 branches that merge their workspaces at the same moment are merged one after the other", async () => {
  const world = workflowWorld();
  const names = ["a", "b", "c", "d"];
  const branch = (name: string) => `
  stage "make_${name}" kind="workspace.create" workspace_name="${name}"
  stage "work_${name}" kind="tool" command="echo x > ${name}; git add -A; git commit -qm ${name}; touch '${world.dir}/ready-${name}'; while ! test -f '${world.dir}/ready-a' -a -f '${world.dir}/ready-b' -a -f '${world.dir}/ready-c' -a -f '${world.dir}/ready-d'; do sleep 0.02; done"
  stage "merge_${name}" kind="workspace.merge" workspace_name="${name}"
  transition from="make_${name}" to="work_${name}"
  transition from="work_${name}" to="merge_${name}"
  transition from="merge_${name}" to="all_merged"`;
  world.workflow(
    "side.awf.kdl",
    `workflow "side" {
  version 2
  start "all"
  stage "all" kind="parallel" join="all_merged" { branch ${names.map((name) => `"make_${name}"`).join(" ")} }
  stage "all_merged" kind="join"
  stage "exit" kind="exit"
  transition from="all_merged" to="exit"
  ${names.map(branch).join("")}
}`,
  );
  const ended = await world.run("side.awf.kdl", "--json");
  expect([ended.code, outcomesOf(ended).at(-1)]).toEqual([0, "exit 1 success"]);
  expect(names.map((name) => world.read(name))).toEqual(names.map(() => "x\n"));
});
