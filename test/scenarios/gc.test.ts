import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { beadsWorld } from "../contract/beads-world.js";
import { type Sandbox, sandbox } from "./sandbox.js";

const agent = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID $RATCHET_ATTEMPT" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
function world(): Sandbox {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    commands: { check: "! ls bad*.txt" },
    evidence_check: { required: ["check"] },
  });
  return box;
}

/** Runs end in the present: what is old is made old in the record, as time would. */
async function makeOld(box: Sandbox): Promise<void> {
  const { DatabaseSync } = await import("@photostructure/sqlite");
  const database = new DatabaseSync(join(box.home, "ratchet.db"));
  const old = new Date(Date.now() - 31 * 86_400_000).toISOString();
  database.exec(`UPDATE runs SET started_at = '${old}', record = json_set(record, '$.completed_at', '${old}')`);
  database.close();
}
const runs = (box: Sandbox) => readdirSync(join(box.home, "runs"));

test("gc removes old runs whose work has landed, keeps the issue's findings and everything young", async () => {
  const box = world();
  await box.add("done");
  expect((await box.ratchet("run")).code).toBe(0);
  await makeOld(box);
  const [old = ""] = runs(box);
  await box.add("young");
  expect((await box.ratchet("run")).code).toBe(0);
  // Both may have begun within one second: their names do not tell which was first.
  const young = runs(box).find((run) => run !== old) ?? "";
  const dry = JSON.parse((await box.ratchet("gc", "--dry-run", "--json")).stdout);
  expect(dry.dry_run).toBe(true);
  expect(dry.actions.filter(({ kind }: { kind: string }) => kind === "run")).toMatchObject([{ runId: old }]);
  expect(runs(box)).toHaveLength(2);
  const done = await box.ratchet("gc");
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`removed run ${old}`)]);
  expect(runs(box)).toEqual([young]);
  expect((await box.ratchet("logs", "show", old)).code).toBe(1);
  expect((await box.ratchet("logs", "show", young)).code).toBe(0);
  expect(await box.status("done")).toBe("completed");
  expect((await box.ratchet("gc", "--dry-run")).stdout).not.toContain("run ");
  expect((await box.ratchet("doctor")).stdout).not.toContain("journal of");
});

test("gc never touches unlanded work: its run stays until the work is parked, and comes back whole afterwards", async () => {
  const box = world();
  await box.add("bad");
  expect((await box.ratchet("run")).code).toBe(1);
  const { worktree_path, run } = { ...(await box.issue("bad")), run: runs(box)[0] ?? "" };
  await makeOld(box);
  const kept = await box.ratchet("gc");
  expect(kept.stdout).toContain(`kept run ${run}: bad has work that has neither landed nor been parked`);
  expect(runs(box)).toEqual([run]);
  expect(existsSync(join(worktree_path ?? "", "bad.txt"))).toBe(true);
  expect((await box.ratchet("worktree", "park", "bad")).code).toBe(0);
  expect((await box.ratchet("gc")).stdout).toContain(`removed run ${run}`);
  expect(runs(box)).toEqual([]);
  expect((await box.ratchet("worktree", "restore", "bad")).code).toBe(0);
  expect(existsSync(join(worktree_path ?? "", "bad.txt"))).toBe(true);
  execFileSync("git", ["fsck", "--no-dangling"], { cwd: join(box.home, "repos", "shop.git"), env: box.env });
  expect((await box.ratchet("run", "--resume")).code).toBe(1);
});

test("gc keeps the last session of an issue that is open, until it is completed", async () => {
  const box = world();
  const told = box.script("told.sh", `echo '{"session_id": "s-'$RATCHET_RUN_ID'"}' >"$RATCHET_RESULT_FILE"\n${agent}`);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), agent: { type: "command", command: told } });
  await box.add("bad");
  expect((await box.ratchet("run")).code).toBe(1);
  const [first = ""] = runs(box);
  expect((await box.ratchet("run", "--resume")).code).toBe(1);
  const last = runs(box).find((run) => run !== first) ?? "";
  expect((await box.ratchet("worktree", "park", "bad")).code).toBe(0);
  await makeOld(box);
  const done = await box.ratchet("gc");
  expect(done.stdout).toContain(`removed run ${first}`);
  expect(done.stdout).toContain(`kept run ${last}: bad is open: a resume goes on with its session`);
  expect((await box.ratchet("work", "complete", "bad")).code).toBe(0);
  expect((await box.ratchet("gc")).stdout).toContain(`removed run ${last}`);
});

test("diff shows parked work and given branches after gc, too; diff and logs say when nothing tells of the work any more", async () => {
  const box = world();
  await box.add("landed");
  expect((await box.ratchet("run")).code).toBe(0);
  box.configure({ ...JSON.parse(box.read("ratchet.yaml")), finalize: { mode: "branch" } });
  await box.add("bad");
  await box.add("given");
  await box.ratchet("run");
  const { worktree_path } = await box.issue("bad");
  writeFileSync(join(worktree_path ?? "", "loose.txt"), "not committed\n");
  await box.ratchet("worktree", "park", "bad");
  const diffs = async () => await Promise.all(["bad", "given"].map((id) => box.ratchet("diff", id)));
  const before = await diffs();
  expect(before).toMatchObject([{ stdout: expect.stringContaining("+++ b/loose.txt") }, { code: 0 }]);
  await makeOld(box);
  await box.ratchet("gc");
  expect(runs(box)).toEqual([]);
  expect(await diffs()).toEqual(before);
  expect((await box.ratchet("diff", "given", "--stat")).stdout).toBe("given.txt\n");
  expect(await box.ratchet("diff", "landed")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("no run of it is kept"),
  });
  await box.add("other");
  await box.ratchet("run", "other");
  await box.add("new");
  const prompts = async (id: string) => (await box.ratchet("logs", "prompt", "last", id)).stderr.split("\n")[0];
  expect(await Promise.all(["landed", "bad", "new"].map(prompts))).toEqual([
    "ratchet: no run of landed is kept",
    "ratchet: no run of bad is kept",
    "ratchet: new has not been worked on yet",
  ]);
  expect((await box.ratchet("diff", "new")).stderr).toContain("new has not changed anything yet");
  expect((await box.ratchet("diff", "nobody")).stderr).toContain("no issue nobody in shop");
});

test.each([
  ["HEAD", "rm HEAD && mkdir HEAD"],
  ["HEAD otherwise", "rm HEAD && ln -s HEAD HEAD"],
  ["what it is", 'echo \'{"path": "x"}\' >ratchet/checkout.json'],
])("gc does its work beside a worktree whose git folder no longer tells %s", async (_, how) => {
  const box = world();
  await box.add("done");
  expect((await box.ratchet("run")).code).toBe(0);
  await makeOld(box);
  const [old = ""] = runs(box);
  await box.add("bad");
  expect((await box.ratchet("run")).code).toBe(1);
  await makeOld(box);
  const folder = join(box.home, "repos", "shop.git", "checkouts");
  for (const name of readdirSync(folder)) execFileSync("sh", ["-c", how], { cwd: join(folder, name) });
  const done = await box.ratchet("gc");
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining(`removed run ${old}`)]);
  expect((await box.ratchet("worktree", "list")).code).toBe(0);
});

test("gc leaves an unfinished run alone, and takes leftovers of gone worktrees", async () => {
  const box = world();
  await box.add("one");
  box.put("home/slots/77", join(box.home, "worktrees/shop/gone"));
  box.put("home/worktrees/shop/_landing-nobody/file", "left over");
  const wait = box.put("wait", "");
  const slow = box.script("slow.sh", `while [ -e ${wait} ]; do sleep 0.05; done`);
  box.configure({ agent: { type: "command", command: slow } });
  const run = box.start(["run", "--json"]);
  await new Promise<void>((resolve) => run.onLine((line) => line.includes("prompt-sent") && resolve()));
  run.kill("SIGKILL");
  await run.ended;
  await makeOld(box);
  const [id = ""] = runs(box);
  const done = await box.ratchet("gc");
  expect(done.stdout).toContain(`kept run ${id}: it is not over`);
  expect(done.stdout).not.toContain("packed");
  expect(runs(box)).toEqual([id]);
  expect(existsSync(join(box.home, "slots/77"))).toBe(false);
  expect(existsSync(join(box.home, "worktrees/shop/_landing-nobody"))).toBe(false);
});

test("gc takes the runs of an issue that a person has closed in beads, and keeps those of one that is open or cannot be asked for", async () => {
  const beads = beadsWorld({ program: "bd" });
  onTestFinished(beads.done);
  for (const id of ["bad-1", "bad-2"]) await beads.add({ id });
  const box = sandbox();
  const withSession = `${agent}echo '{"session_id": "s"}' >"$RATCHET_RESULT_FILE"\n`;
  const wrong = '{"file": "a", "line_start": 1, "line_end": 1, "priority": 0, "title": "Wrong", "body": ""}';
  box.configure({
    tracker: { type: "beads" },
    agent: { type: "command", command: box.script("agent.sh", withSession) },
    per_issue_review: {
      ...{ enabled: true, reviewer_type: "command", max_retries: 1 },
      command: box.script("review.sh", `cat >/dev/null; echo '{"verdict": "fail", "findings": [${wrong}]}'`),
    },
  });
  const env = { ...beads.env, PATH: `${join(beads.root, "bin")}:${process.env.PATH}` };
  const ratchet = (...args: string[]) => box.start(args, { env }).ended;
  for (const id of ["bad-1", "bad-2"]) {
    expect((await ratchet("run", id)).code).toBe(1);
    expect((await ratchet("worktree", "park", id)).code).toBe(0);
  }
  await makeOld(box);
  const closed = runs(box).find((run) => existsSync(join(box.home, "runs", run, "bad-1")));
  const open = runs(box).find((run) => run !== closed);
  beads.change(({ issues }) => Object.assign(issues[0] ?? {}, { status: "closed" }));
  writeFileSync(join(beads.root, "issues.json.down"), "");
  const away = await ratchet("gc");
  expect([away.code, away.stderr]).toEqual([
    0,
    expect.stringContaining("what the tracker has counts as open: bd show"),
  ]);
  expect(runs(box)).toHaveLength(2);
  rmSync(join(beads.root, "issues.json.down"));
  const { stdout } = await ratchet("gc");
  expect(stdout).toContain(`removed run ${closed}`);
  expect(stdout).toContain(`kept run ${open}: bad-2 is open: a resume goes on with its session`);
  expect(runs(box)).toEqual([open]);
});
