import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type BeadsWorld, beadsWorld } from "../contract/beads-world.js";
import type { Ended, Sandbox } from "./sandbox.js";
import { countRan, failWith, pass, type TriggerWorld, triggerBox } from "./trigger-world.js";

interface World {
  readonly box: Sandbox;
  readonly beads: BeadsWorld;
  readonly ratchet: (...args: string[]) => Promise<Ended>;
  readonly comeBack: () => void;
}

/** One issue in beads; its agent first does what `agent` says, with the file in $DOWN the tracker is away. */
async function world(agent = "", more: Partial<TriggerWorld> = {}): Promise<World> {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  await beads.add({ id: "bd-1" });
  const down = `${join(beads.root, "issues.json")}.down`;
  const box = triggerBox({
    commands: {},
    triggers: {},
    agent: `DOWN='${down}'\n${agent}`,
    more: { max_agents: 1, tracker: { type: "beads" } },
    ...more,
  });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const ratchet = (...args: string[]) => box.start(args, { env }).ended;
  return { box, beads, ratchet, comeBack: () => rmSync(down) };
}
const implementers = (box: Sandbox) => countRan(box, "implementer bd-1");

test("D3 work that is done when the tracker is away stays, resumable, and lands when it is back", async () => {
  const { box, beads, ratchet, comeBack } = await world('test -e "$HOME/ran" || touch "$DOWN"');
  expect((await ratchet("run")).code).toBe(3);
  expect(await box.issue("bd-1")).toMatchObject({ status: "interrupted", error: "tracker_unreachable" });
  expect(beads.issue("bd-1")).toMatchObject({ status: "in_progress", labels: [] });
  expect((await ratchet("run")).code).toBe(3);
  comeBack();
  const again = await ratchet("run", "--resume");
  expect(again.code).toBe(0);
  expect(again.stdout).toContain("The tracker knows now that bd-1 is free");
  expect(beads.issue("bd-1")).toMatchObject({ status: "closed", labels: [] });
  expect(box.read("bd-1.txt")).toContain("implementer");
});

test("D3 what landed and could not be closed is closed by the next start, and no agent starts again", async () => {
  const { box, beads, ratchet } = await world();
  beads.change(({ faults }) => faults.push({ command: "close", times: 6 }));
  expect((await ratchet("run")).code).toBe(3);
  const why =
    /^Why the exit code is 3:\n {2}the tracker could not be told that bd-1 is done: bd close bd-1 .*\n\nWhat next:\n {2}ratchet run {3}#/m;
  expect((await ratchet("logs", "show", "last")).stdout).toMatch(why);
  const { status, commit } = await box.issue("bd-1");
  expect([status, beads.issue("bd-1").status]).toEqual(["success", "in_progress"]);
  const landed = /it has landed as [0-9a-f]{12} in run \S+, which beads has not been told yet\nnext: ratchet run$/m;
  expect((await ratchet("explain", "bd-1")).stdout).toMatch(landed);
  const since = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z";
  const owed = `beads has not been told since ${since} that bd-1 is done; the next \`ratchet run\` tells it first$`;
  expect((await ratchet("status")).stdout).toMatch(new RegExp(`^${owed}`, "m"));
  expect((await ratchet("status", "--all")).stdout).toContain("beads of shop has not been told since ");
  const doctor = await ratchet("doctor");
  expect([doctor.code, doctor.stdout]).toEqual([0, expect.stringMatching(new RegExp(`^ok +not told +${owed}`, "m"))]);
  const { run_id } = await box.record();
  const untold = [
    { tracker: "beads", project_id: "shop", issue_id: "bd-1", op: "complete", run_id, since: expect.any(String) },
  ];
  expect(JSON.parse((await ratchet("status", "--json")).stdout)).toMatchObject({ runs: [], untold });
  expect(JSON.parse((await ratchet("doctor", "--json")).stdout)).toMatchObject({ untold });
  // Not yet: then nothing begins either.
  const first =
    /The next issue could not be asked for; .*: the tracker is to be told first that bd-1 is done \(run \S+\): bd close/;
  expect(await ratchet("run", "--resume")).toMatchObject({ code: 3, stdout: expect.stringMatching(first) });
  // Also where only that one is named, which nobody is to work on.
  expect((await ratchet("run", "bd-1")).code).toBe(0);
  expect(beads.issue("bd-1")).toMatchObject({ status: "closed", close_reason: expect.stringContaining(commit ?? "?") });
  const closes = () => beads.state().calls.filter(([command]) => command === "close").length;
  expect([implementers(box), closes()]).toEqual([1, 7]);
  expect((await ratchet("run")).code).toBe(0);
  expect(closes()).toBe(7);
  expect(await ratchet("status")).toMatchObject({ stdout: "Nothing is running. Start with `ratchet run`.\n" });
  expect((await ratchet("doctor")).stdout).not.toContain("not told");
});

test("D3 what landed is not called closed because bd says so: it stays owed, and no agent starts again", async () => {
  const { box, beads, ratchet } = await world();
  beads.change(({ faults }) => faults.push({ command: "close", times: 3, prints: "[]\n" }));
  const run = await ratchet("run");
  const words = "The tracker could not be told (tracker:complete): bd close bd-1 succeeds and changes nothing";
  expect([run.code, run.stdout]).toEqual([3, expect.stringContaining(words)]);
  const again = await ratchet("run", "--resume");
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("The tracker knows now that bd-1 is done")]);
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 1]);
});

/** What somebody does with the issue in the agent's first turn. */
const meanwhile = (what: string) => `ROOT="\${DOWN%/*}"
export BD_STUB_FILE="$ROOT/issues.json" BD_STUB_AS=bd
test -e "$HOME/ran" || ${what}`;
const bd = '"$ROOT/bin/bd"';

test.each([
  ["taken away", `${bd} update bd-1 --assignee=bob`],
  ["taken away", `${bd} update bd-1 --status=open --assignee=bob`],
  ["deleted", `echo '{"issues":[],"faults":[],"lose":[],"calls":[]}' >"$BD_STUB_FILE"`],
])("an issue that was %s while it was worked on does not land: %s", async (how, what) => {
  const { box, ratchet } = await world(meanwhile(what));
  const run = await ratchet("run");
  const words = `bd-1: interrupted: The issue was ${how} by someone else meanwhile: not landed, the branch is kept`;
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining(words)]);
  expect((await ratchet("diff", "bd-1", "--stat")).stdout).toContain("bd-1.txt");
  expect(existsSync(join(box.dir, "bd-1.txt"))).toBe(false);
});

test.each([
  ["closed", `${bd} close bd-1`],
  ["taken away", `${bd} update bd-1 --assignee=bob`],
])("with mode branch an issue that was %s meanwhile gets no branch in the user's repository", async (how, what) => {
  const more = { max_agents: 1, tracker: { type: "beads" }, finalize: { mode: "branch" } };
  const { box, ratchet } = await world(meanwhile(what), { more });
  const run = await ratchet("run");
  const words = `bd-1: interrupted: The issue was ${how} by someone else meanwhile: not landed, the branch is kept`;
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining(words)]);
  expect(box.git("branch", "--list", "ratchet/*")).toBe("");
  expect((await ratchet("diff", "bd-1", "--stat")).stdout).toContain("bd-1.txt");
});

test("an issue that was deleted while it was worked on is no failure of the review that it was to get", async () => {
  const gone = `echo '{"issues":[],"faults":[],"lose":[],"calls":[]}' >"$BD_STUB_FILE"`;
  const { box, ratchet } = await world(meanwhile(gone), { reviewer: pass });
  const run = await ratchet("run");
  const words = "bd-1: interrupted: The issue was deleted by someone else meanwhile: not landed, the branch is kept";
  expect([run.code, run.stdout]).toEqual([0, expect.stringContaining(words)]);
  expect([implementers(box), countRan(box, "review bd-1")]).toEqual([1, 0]);
});

test.each([
  ["closed", `${bd} close bd-1`],
  ["taken away", `${bd} update bd-1 --assignee=bob`],
])(
  "an issue that was %s while it was worked on is not told to have failed when its review fails",
  async (how, what) => {
    const { beads, ratchet } = await world(meanwhile(what), { reviewer: failWith("Wrong") });
    const run = await ratchet("run", "--max-review-retries", "1");
    const words = `bd-1: interrupted: The issue was ${how} by someone else meanwhile: not landed, the branch is kept`;
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining(words)]);
    expect(run.stdout).not.toContain("could not be told");
    expect(beads.issue("bd-1").labels).toEqual([]);
  },
);

test.each([
  ["blocked", "its work was to land", `${bd} update bd-1 --status=blocked`],
  ["closed", "its work had failed", `{ touch "$HOME/ran"; ${bd} close bd-1; exit 9; }`],
])("an issue that was %s while it was worked on, when %s, is taken once it is open again", async (how, _when, what) => {
  const { box, beads, ratchet } = await world(meanwhile(what));
  expect((await ratchet("run")).stdout).toContain(`bd-1: interrupted: The issue was ${how} by someone else meanwhile`);
  expect(beads.issue("bd-1")).toMatchObject({ status: how, assignee: "" });
  beads.change(({ issues }) => void Object.assign(issues[0] ?? {}, { status: "open" }));
  expect((await ratchet("run")).code).toBe(0);
  expect([beads.issue("bd-1").status, (await box.issue("bd-1")).status]).toEqual(["closed", "success"]);
});

test("explain of an issue in beads that cannot be asked says what its run has left, and exits 3 all the same", async () => {
  const { beads, ratchet } = await world("exit 9");
  expect((await ratchet("run")).code).toBe(1);
  beads.change(({ faults }) => faults.push({ command: "show", times: 6 }));
  const { code, stdout, stderr } = await ratchet("explain", "bd-1");
  expect([code, stderr]).toEqual([3, expect.stringContaining("its tracker cannot be asked: bd show bd-1 failed")]);
  expect(stdout).toMatch(
    /^bd-1 is not running: failed in run \S+: The agent failed: exit code 9\nnext: ratchet run --resume bd-1$/m,
  );
  const json = await ratchet("explain", "bd-1", "--json");
  const error = { code: "tracker", message: expect.stringContaining("bd show bd-1 failed") };
  expect([json.code, JSON.parse(json.stdout)]).toEqual([
    3,
    expect.objectContaining({ issue_id: "bd-1", state: "failed", error: expect.objectContaining(error) }),
  ]);
});

test("a claim that is merely gone is taken again to tell that the work has failed", async () => {
  const free = meanwhile(`{ ${bd} update bd-1 --status=open --assignee=; exit 9; }`);
  const { beads, ratchet } = await world(free);
  const run = await ratchet("run");
  expect([run.code, run.stdout]).toEqual([1, expect.stringContaining("bd-1: failed: The agent failed")]);
  expect(beads.issue("bd-1")).toMatchObject({ status: "open", labels: ["needs-followup"] });
});

test("explain says why an issue in beads has failed, and has no reason for a label that a person has set", async () => {
  const { beads, ratchet } = await world("exit 9");
  expect((await ratchet("run")).code).toBe(1);
  const failed = "bd-1 is not running: failed: agent_failed: The agent failed";
  expect((await ratchet("explain", "bd-1")).stdout).toContain(failed);
  beads.change(({ issues }) => void Object.assign(issues[0] ?? {}, { labels: ["human-review"] }));
  expect((await ratchet("explain", "bd-1")).stdout).toContain("escalated, a person has to decide\n");
});

test("a claim that is merely gone is taken again before the work lands, and it lands once", async () => {
  const { box, beads, ratchet } = await world(meanwhile(`${bd} update bd-1 --status=open --assignee=`));
  expect((await ratchet("run")).code).toBe(0);
  expect((await ratchet("run", "--resume")).code).toBe(0);
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 1]);
});

test("D3 what has landed is never worked on again, whoever had its issue when that was to be told", async () => {
  const { box, beads, ratchet } = await world();
  // Between the landing and the close.
  const program = join(beads.root, "bin", "bd");
  const script = readFileSync(program, "utf8");
  const steal = `if git -C '${box.dir}' cat-file -e main:bd-1.txt 2>/dev/null; then sed -i 's#"ratchet/[^"]*"#"bob"#' "$BD_STUB_FILE"; fi\nexec `;
  writeFileSync(program, script.replace("exec ", steal));
  const first = await ratchet("run");
  expect([first.code, first.stdout]).toEqual([3, expect.stringContaining("it is in_progress, held by bob")]);
  writeFileSync(program, script);
  const later = await ratchet("run");
  const untold = /The tracker was not told that bd-1 is done .*held by bob; the next run tries again/;
  expect([later.code, later.stdout]).toEqual([0, expect.stringMatching(untold)]);
  beads.change(({ issues }) => Object.assign(issues[0] ?? {}, { status: "open", assignee: "" }));
  expect((await ratchet("run", "--dry-run")).stdout).toBe("");
  const last = await ratchet("run");
  expect([last.code, last.stdout]).toEqual([0, expect.stringContaining("The tracker knows now that bd-1 is done")]);
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 1]);
});

test("what is still to be told is not called failed or stopped by the start that tells it", async () => {
  const { beads, ratchet } = await world();
  beads.change(({ faults }) => faults.push({ command: "close", times: 3 }));
  expect((await ratchet("run")).code).toBe(3);
  const told = await ratchet("run");
  expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining("The tracker knows now that bd-1 is done") });
  expect(told.stderr).toBe("nothing is ready in beads before it is told what became of bd-1\n");
  expect((await ratchet("run")).stderr).toMatch(/^nothing is ready in beads; /);
});

test("an issue that the tracker is still to be told is free is not called not ready by the run that is named for it", async () => {
  const { box, beads, ratchet, comeBack } = await world('[ -e "$HOME/was" ] || touch "$HOME/was" "$DOWN"');
  expect((await ratchet("run")).code).toBe(3);
  expect(beads.issue("bd-1").status).toBe("in_progress");
  comeBack();
  const run = await ratchet("run", "bd-1");
  expect([run.code, run.stderr]).toEqual([0, ""]);
  expect(run.stdout).toContain("The tracker knows now that bd-1 is free");
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 2]);
});

test("A2 records from elsewhere are resumed for issues in beads, and nobody calls them missing on the board", async () => {
  const { ratchet, box } = await world();
  const finding = { file: "a.ts", line_start: 1, line_end: 1, priority: 1, title: "Wrong", body: "", reviewer: "r" };
  const issues = { "bd-1": { status: "failed", session_id: "s-1", last_review_issues: [finding] } };
  const file = box.put("run.json", JSON.stringify({ run_id: "r0", started_at: "2026-01-01T00:00:00Z", issues }));
  const imported = await ratchet("runs", "import", file);
  expect(imported.stdout.split("\n").slice(1, 3)).toEqual([
    "  bd-1: failed, 1 review finding",
    "ratchet run --resume goes on with those that are open in beads",
  ]);
});

test("D3 a claim that fails is told with the call and its words, not as no work", async () => {
  const { beads, ratchet } = await world();
  beads.change(({ faults }) => faults.push({ command: "update", times: 3 }));
  const run = await ratchet("run");
  const words = "bd-1: It could not be claimed: bd update bd-1 failed (exit code 1): Error: database is locked";
  expect([run.code, run.stdout]).toEqual([3, expect.stringContaining(words)]);
  expect((await ratchet("logs", "show", "last")).stdout).toContain(words);
});

test("what was closed meanwhile is not called free", async () => {
  const { beads, ratchet, comeBack } = await world('touch "$DOWN"');
  expect((await ratchet("run")).code).toBe(3);
  beads.change(({ issues }) => Object.assign(issues[0] ?? {}, { status: "closed" }));
  comeBack();
  expect((await ratchet("run")).stdout).toMatch(
    /The tracker was not told that bd-1 is free \(run \S+\): it is completed/,
  );
});

test("a claim that failed is no ending: whoever has the issue by now is named, and nothing is told of it", async () => {
  const { beads, ratchet } = await world();
  beads.change(({ faults }) => faults.push({ command: "update", times: 3 }));
  expect((await ratchet("run")).code).toBe(3);
  const taken = { status: "in_progress", assignee: "ann" };
  beads.change(({ issues }) => Object.assign(issues.find(({ id }) => id === "bd-1") ?? {}, taken));
  const explained = (await ratchet("explain", "bd-1")).stdout;
  expect([explained.includes("ann"), explained.includes("has not been told")]).toEqual([true, false]);
  expect((await ratchet("run")).stdout).not.toContain("The tracker");
  expect(beads.issue("bd-1")).toMatchObject(taken);
});

test("D3 a claim that succeeds before the tracker goes away is given back by the next start, whatever name it was entered under", async () => {
  const { box, beads, ratchet, comeBack } = await world();
  const bd = join(beads.root, "bin", "bd");
  const down = 'case "$*" in *--claim*) touch "$BD_STUB_FILE.down" ;; esac';
  // The last thing it does is the claim.
  const script = readFileSync(bd, "utf8").replace("exec ", "export BD_STUB_CLAIMS_AS=me\n");
  writeFileSync(bd, `${script}code=$?\n${down}\nexit $code\n`);
  expect((await ratchet("run")).code).toBe(3);
  expect(beads.issue("bd-1")).toMatchObject({ status: "in_progress", assignee: "me" });
  writeFileSync(bd, script);
  comeBack();
  const again = await ratchet("run", "bd-1");
  expect([again.code, again.stdout]).toEqual([0, expect.stringContaining("The tracker knows now that bd-1 is free")]);
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 1]);
});

test("D3 B8 follow-ups that could not be made are made by the next start, an issue's and a run's, and named", async () => {
  const nit = failWith("Naming", 3);
  const { box, beads, ratchet } = await world("", {
    reviewer: nit,
    triggers: { run_end: { commands: [], code_review: { enabled: true, track_review_issues: true } } },
  });
  beads.change(({ faults }) => faults.push({ command: "create", times: 6 }));
  const first = await ratchet("run");
  expect([first.code, first.stdout.includes("below threshold")]).toEqual([3, false]);
  const findings = async () => {
    const all: { issue_id: string; status: string; reason: string | null }[] = JSON.parse(
      (await ratchet("findings", "--all", "--json")).stdout,
    );
    return all.map(({ status, reason }) => [status, reason]);
  };
  expect(await findings()).toEqual([
    ["open", null],
    ["open", null],
  ]);
  box.put("bin/review.sh", pass);
  await beads.add({ id: "bd-2" });
  beads.change(({ faults }) => faults.push({ command: "create", times: 6 }));
  const refused = await ratchet("run");
  expect(refused.stdout).toMatch(
    /was not told that bd-1 left something to do \(run \S+\): .*; the next run tries again/,
  );
  expect([refused.code, beads.issue("bd-2").status]).toEqual([0, "closed"]);
  const second = await ratchet("run");
  expect(second.stdout).toContain("The tracker knows now that bd-1 left something to do");
  expect(second.stdout).toContain("The tracker knows now that the run left something to do");
  const made = beads.state().issues.flatMap(({ id }) => (/^bd-[12]$/.test(id) ? [] : [id]));
  expect(made).toHaveLength(2);
  expect(await findings()).toEqual(made.map((id) => ["waived", `tracked as ${id}`]));
});

test("B8 D3 a follow-up that only its label tells makes none of its own, and is not taken by the run that made it", async () => {
  const { beads, ratchet } = await world("", { reviewer: failWith("Naming", 3) });
  const program = join(beads.root, "bin", "bd");
  writeFileSync(program, readFileSync(program, "utf8").replace("exec ", "export BD_STUB_TERSE=1\nexec "));
  const states = () => beads.state().issues.map(({ id, status }) => `${id} ${status}`);
  expect((await ratchet("run", "--max-issues", "3")).code).toBe(0);
  expect(states()).toEqual(["bd-1 closed", "bd-2 open"]);
  expect((await ratchet("run", "--max-issues", "3")).code).toBe(0);
  expect(states()).toEqual(["bd-1 closed", "bd-2 closed"]);
});

test("B8 D3 the run that makes a follow-up that an earlier one could not make does not take it", async () => {
  const { beads, ratchet } = await world("", { reviewer: failWith("Naming", 3) });
  beads.change(({ faults }) => faults.push({ command: "create", times: 3 }));
  expect((await ratchet("run")).code).toBe(3);
  const second = await ratchet("run");
  expect(second.stdout).toContain("The tracker knows now that bd-1 left something to do");
  expect(beads.issue("bd-2").status).toBe("open");
  expect((await ratchet("run")).code).toBe(0);
  expect(beads.issue("bd-2").status).toBe("closed");
});

test("an id that begins with a dash is named once as one that no run takes, and holds nothing else up", async () => {
  const { beads, ratchet } = await world();
  await beads.add({ id: "-x" });
  const words = "ratchet: -x is no id that bd can be asked about: it begins with a dash\n";
  expect(await ratchet("run", "--dry-run")).toMatchObject({ code: 0, stdout: "bd-1\n", stderr: words });
  const run = await ratchet("run");
  expect([run.code, run.stderr.split(words).length - 1]).toEqual([0, 1]);
  expect([beads.issue("bd-1").status, beads.issue("-x").status]).toEqual(["closed", "open"]);
});

test("commands that name an issue ask the tracker, or say where it is", async () => {
  const { beads, ratchet, box } = await world();
  const elsewhere = { code: 2, stdout: "" };
  const refused = [
    ["do", "Something"],
    ["work", "add", "Something"],
    ["retry", "bd-1"],
    ["work", "show", "bd-1"],
  ];
  for (const args of refused) {
    const ended = await ratchet(...args);
    expect(ended, args.join(" ")).toMatchObject(elsewhere);
    expect(ended.stderr).toMatch(/issues of this project are in beads\n {2}hint: bd /);
  }
  expect((await ratchet("work", "list")).stderr).toContain("the issues of this project are in beads (bd list)");
  expect(await ratchet("run", "nope")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no issue nope in beads"),
  });
  for (const command of ["findings", "land"]) {
    const { stderr } = await ratchet(command, "nope");
    expect(stderr).toMatch(/no issue nope.*\n {2}hint: bd list\n/);
  }
  // Runs of it may have been cleared away.
  expect((await ratchet("diff", "bd-1")).stderr).toContain("what bd-1 has changed: no run of it is kept");
  expect((await ratchet("run", "--scope", "ids:bd-1", "--dry-run")).stdout).toBe("bd-1\n");
  expect((await ratchet("run", "bd-1")).code).toBe(0);
  expect([beads.issue("bd-1").status, implementers(box)]).toEqual(["closed", 1]);
});

test.each(["explain", "findings"])(
  "D3 %s says that the tracker is missing or failed, not that there is no such issue",
  async (command) => {
    const { box, beads, ratchet } = await world();
    const without = await box.start([command, "bd-1"], { env: { PATH: "/usr/bin:/bin" } }).ended;
    expect([without.code, without.stderr]).toEqual([2, expect.stringContaining("neither bd nor br is on PATH")]);
    expect(without.stderr).not.toContain("work add");
    beads.change(({ faults }) => faults.push({ command: "show", times: 3 }));
    const failed = await ratchet(command, "bd-1");
    expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining("bd show bd-1 failed")]);
    // Nobody has worked on it yet: it is there all the same.
    expect((await ratchet(command, "bd-1")).code).toBe(0);
    expect(await ratchet(command, "nope")).toMatchObject({ code: 1, stderr: expect.stringContaining("beads") });
  },
);

test("where only br is there, it is br that is named", async () => {
  const { box } = await world();
  const br = beadsWorld({ program: "br" });
  onTestFinished(br.done);
  await br.add({ id: "mine" });
  br.change(({ issues }) => Object.assign(issues[0] ?? {}, { assignee: "ann" }));
  const path = (process.env.PATH ?? "").split(":").filter((folder) => !existsSync(join(folder, "bd")));
  const env = { ...br.env, PATH: [join(br.root, "bin"), ...path].join(":") };
  const ratchet = (...args: string[]) => box.start(args, { env }).ended;
  expect((await ratchet("explain", "nope")).stderr).toContain("hint: br list");
  expect((await ratchet("run", "nope")).stderr).toContain("hint: br list");
  expect((await ratchet("work", "add", "New")).stderr).toContain("hint: br create");
  expect((await ratchet("explain", "mine")).stdout).toContain("next: br update mine --assignee=");
});
