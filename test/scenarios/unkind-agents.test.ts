import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { attemptsOf, eventsOf, type Sandbox, sandbox } from "./sandbox.js";

const commit = `echo done >"$RATCHET_ISSUE_ID.txt"; git add --all; git commit --quiet --message "Work"`;
const programs = fileURLToPath(new URL("../agents/", import.meta.url));

async function withAgent(
  script: string,
  more: { config?: object; agent?: object; body?: string } = {},
): Promise<Sandbox> {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", script), ...more.agent },
    ...more.config,
  });
  await box.add("one", { body: more.body ?? "" });
  return box;
}

/** Folders of the run's turns and what is in them. */
async function turnsOf(box: Sandbox): Promise<{ folders: string[]; path: (folder: string, file: string) => string }> {
  const { run_id } = await box.record();
  const folders = attemptsOf(box, run_id, "one");
  return { folders, path: (folder, file) => join(box.home, "runs", run_id, "one", folder, file) };
}

test("an agent that prints 100 MB is followed to its end, and all of it is kept", async () => {
  const box = await withAgent(`cat >/dev/null; ${process.execPath} ${programs}prints-100-mb.mjs; ${commit}`);
  expect((await box.ratchet("run")).code).toBe(0);
  const { path } = await turnsOf(box);
  expect(statSync(path("01-implementer", "transcript.jsonl")).size).toBeGreaterThan(100 * 1024 * 1024);
  expect(box.read("one.txt")).toBe("done\n");
});

test("an agent that never reads its prompt of 4 MB can still do its work", async () => {
  const body = "a long story ".repeat(300_000);
  const box = await withAgent(commit, { body });
  expect((await box.ratchet("run")).code).toBe(0);
  const { path } = await turnsOf(box);
  expect(readFileSync(path("01-implementer", "prompt.md"), "utf8")).toContain(body);
});

test("a daemon that an agent leaves behind is gone when its turn has ended", async () => {
  const daemon = `(setsid sh -c 'echo $$ >"$HOME/daemon"; (sleep 600 & echo $! >"$HOME/grandchild"); sleep 600' &)`;
  const wait = `while [ ! -s "$HOME/grandchild" ]; do sleep 0.02; done`;
  // What nobody has buried yet is gone all the same.
  const gone = (name: string) => `! grep -q "^State:[^Z]*$" "/proc/$(cat "$HOME/${name}")/status"`;
  const box = await withAgent(`cat >/dev/null; ${daemon} >/dev/null 2>&1; ${wait}; ${commit}`, {
    config: {
      commands: { check: `${gone("daemon")} && ${gone("grandchild")}` },
      evidence_check: { required: ["check"] },
    },
  });
  expect((await box.ratchet("run")).code).toBe(0);
  expect(await box.issue("one")).toMatchObject({ gate_attempts: 1, status: "success" });
  expect(box.processes()).toEqual([]);
});

test("an agent that was stopped for its silence is told so, and goes on", async () => {
  const session = `cat >/dev/null; echo '{"session_id": "s"}' >"$RATCHET_RESULT_FILE"`;
  const script = `${session}; if [ "$RATCHET_PROMPT_KIND" = continue ]; then ${commit}; else exec sleep 600; fi`;
  const box = await withAgent(script, { config: { idle_timeout_seconds: 0.5 } });
  expect((await box.ratchet("run")).code).toBe(0);
  const { path } = await turnsOf(box);
  const prompt = readFileSync(path("02-continue", "prompt.md"), "utf8");
  expect(prompt).toContain("was interrupted: it printed nothing for 0.5 s, and Ratchet stopped it. Everything");
});

test("a turn that takes too long ends with everything it started, grandchildren in their own session included", async () => {
  const box = await withAgent(`echo unfinished >half.txt; exec sh ${programs}hangs.sh`, {
    config: { timeout_minutes: 0.02 },
  });
  expect((await box.ratchet("run")).code).toBe(1);
  const issue = await box.issue("one");
  expect(issue).toMatchObject({ status: "failed", error: "turn_timeout", gate_attempts: 0 });
  expect(box.processes()).toEqual([]);
  expect(readFileSync(join(issue.worktree_path ?? "", "half.txt"), "utf8")).toBe("unfinished\n");
  expect(await box.status("one")).toBe("failed");
});

test("exit 75 is tried again after the back-off, in the same session, with no attempt used", async () => {
  const box = await withAgent(
    `cat >"$HOME/prompt-$(ls "$HOME" | grep -c '^prompt-')"
     echo "\${RATCHET_SESSION_ID:-new}" >>"$HOME/sessions"
     echo '{"session_id": "s-1"}' >"$RATCHET_RESULT_FILE"
     [ "$(wc -l <"$HOME/sessions")" -gt 2 ] || exit 75
     ${commit}`,
    { agent: { backoff_seconds: [1, 1] } },
  );
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(await box.issue("one")).toMatchObject({ status: "success", gate_attempts: 1 });
  expect(readFileSync(join(box.root, "sessions"), "utf8").trim().split("\n")).toHaveLength(3);
  const prompts = [0, 1, 2].map((n) => readFileSync(join(box.root, `prompt-${n}`), "utf8"));
  expect(new Set(prompts).size).toBe(1);
  const outcomes = eventsOf(run).flatMap((event) => (event.type === "turn-ended" ? [event.outcome] : []));
  expect(outcomes).toEqual(["transient", "transient", "ended"]);
  const sent = eventsOf(run).flatMap((event) => (event.type === "prompt-sent" ? [event.attempt] : []));
  expect(sent).toEqual([1, 1, 1]);
});

test.each([
  { exit: 75, error: "transient_exhausted", turns: 2 },
  { exit: 66, error: "agent_failed", turns: 1 },
  { exit: 1, error: "agent_failed", turns: 1 },
])("an agent that always exits $exit fails with $error, its work kept", async ({ exit, error, turns }) => {
  const box = await withAgent(`cat >/dev/null; echo half >half.txt; echo "no quota left" >&2; exit ${exit}`, {
    agent: { backoff_seconds: [1] },
  });
  expect((await box.ratchet("run")).code).toBe(1);
  const issue = await box.issue("one");
  expect(issue).toMatchObject({ status: "failed", error, gate_attempts: 0, commit: null });
  expect((await turnsOf(box)).folders).toHaveLength(turns);
  expect(existsSync(join(issue.worktree_path ?? "", "half.txt"))).toBe(true);
  expect(await box.status("one")).toBe("failed");
  if (exit === 1) expect(issue.message).toContain("no quota left");
});

test("a missing agent program is found before anything starts: no run, no claim, no worktree", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: ["/no/such/agent"] } });
  await box.add("one");
  const ended = await box.ratchet("run");
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(/\/no\/such\/agent.*\n +hint: /);
  expect(await box.status("one")).toBe("available");
  expect(JSON.parse(await box.quick("logs", "list", "--json"))).toEqual([]);
  expect(existsSync(join(box.home, "runs")) ? readdirSync(join(box.home, "runs")) : []).toEqual([]);
});

test("an agent that deletes the objects of its git folder fails by that name, and --resume goes on from the turn before", async () => {
  const turn = 'n="$(ls "$HOME" | grep -c "^turn-")"; : >"$HOME/turn-$n"; cat >/dev/null';
  const breaks = 'rm -rf "$(git rev-parse --git-dir)/objects"';
  const box = await withAgent(
    `${turn}
     echo "$n" >"file-$n.txt"; git add --all; git commit --quiet --message "Turn $n"
     [ "$n" != 1 ] || ${breaks}`,
    { config: { commands: { check: "test -e file-2.txt" }, evidence_check: { required: ["check"] } } },
  );
  const users = box.git("for-each-ref");
  expect((await box.ratchet("run")).code).toBe(1);
  const { message, worktree_path } = await box.issue("one");
  expect(message).toMatch(/the git folder of .* is damaged: objects of commit [0-9a-f]{12} are missing from /);
  expect([box.git("for-each-ref"), box.git("status", "--porcelain")]).toEqual([users, ""]);
  expect(await box.quick("diff", "one")).toContain("file-0.txt");
  expect(readdirSync(worktree_path ?? "")).toContain("file-1.txt");
  const resumed = await box.ratchet("run", "--resume", "--json");
  expect(resumed.code).toBe(0);
  const told = eventsOf(resumed).flatMap((event) => (event.type === "log" && event.level === "warn" ? event.text : []));
  expect(told).toEqual([expect.stringMatching(/^Commit [0-9a-f]{12} was lost, its objects were deleted: it goes on /)]);
  expect(box.git("ls-files", "file-*")).toBe("file-0.txt\nfile-1.txt\nfile-2.txt");
});

test.each([
  ["its whole git folder", 'rm -rf "$(git rev-parse --git-dir)"'],
  ["its whole git folder and its .git", 'rm -rf "$(git rev-parse --git-dir)" .git'],
])("an agent that deletes %s fails by that name, and --resume goes on with its files", async (_, breaks) => {
  const turn = 'n="$(ls "$HOME" | grep -c "^turn-")"; : >"$HOME/turn-$n"; cat >/dev/null';
  const box = await withAgent(
    `${turn}
     echo "$n" >"file-$n.txt"; git add --all; git commit --quiet --message "Turn $n"
     [ "$n" != 1 ] || ${breaks}`,
    { config: { commands: { check: "test -e file-2.txt" }, evidence_check: { required: ["check"] } } },
  );
  expect((await box.ratchet("run")).code).toBe(1);
  const { message, worktree_path } = await box.issue("one");
  expect(message).toMatch(/the git folder of .* is damaged: `ratchet run --resume` makes .* anew, once/);
  expect(await box.quick("worktree", "list")).toContain(worktree_path);
  expect(await box.quick("diff", "one")).toMatch(/file-0\.txt.*file-1\.txt/s);
  const landed = await box.ratchet("land", "one");
  expect([landed.code, landed.stdout + landed.stderr]).toEqual([1, expect.not.stringContaining("landed on main")]);
  const resumed = await box.ratchet("run", "--resume", "--json");
  expect(resumed.code).toBe(0);
  expect(box.git("ls-files", "file-*")).toBe("file-0.txt\nfile-1.txt\nfile-2.txt");
  expect(readdirSync(join(worktree_path ?? "", "..")).filter((name) => name.includes("aside"))).toEqual([]);
});

test("where an agent has deleted the mirror, every command sees the worktrees of the others and says what is to be done", async () => {
  const box = await withAgent(
    'cat >/dev/null; echo x >>"$RATCHET_ISSUE_ID.txt"; git add --all; git commit --quiet --message Did; echo loose >loose.txt',
    { config: { commands: { check: "test -e done" }, evidence_check: { required: ["check"] }, max_gate_retries: 1 } },
  );
  await box.add("two");
  expect((await box.ratchet("run")).code).toBe(1);
  const mirror = join(box.home, "repos", "shop.git");
  rmSync(mirror, { recursive: true });
  const told = `${mirror} is gone, the files of one, two are there`;
  expect(JSON.parse(await box.quick("status", "--json")).mirror).toContain(told);
  expect((await box.ratchet("status")).stdout).toContain(`${told}: the next command that needs it puts it right`);
  expect((await box.ratchet("doctor")).stdout).toContain(told);
  const listed = await box.quick("worktree", "list");
  for (const id of ["one", "two"]) {
    expect(listed).toMatch(new RegExp(`${id}: its git folder is gone or damaged: .*\`ratchet run --resume\` goes on`));
    expect(listed).toContain(join(box.home, "worktrees", "shop", id));
    expect(await box.quick("diff", id)).toMatch(new RegExp(`${id}\\.txt`));
  }
  expect(JSON.parse(await box.quick("status", "--json")).mirror).toBeNull();
  rmSync(mirror, { recursive: true });
  const landed = await box.ratchet("land", "one");
  expect([landed.code, landed.stdout]).toEqual([1, expect.stringContaining("is made anew: it goes on from")]);
  rmSync(mirror, { recursive: true });
  expect(await box.quick("worktree", "park", "two")).toContain("is put aside as refs/ratchet/parked/two/1");
  expect(await box.quick("worktree", "restore", "two")).toContain("is back in");
  expect(readdirSync(join(box.home, "worktrees", "shop", "two"))).toEqual(
    expect.arrayContaining(["loose.txt", "two.txt"]),
  );
});

test("an agent that deletes the refs of its git folder fails by that name, and --resume goes on with its files", async () => {
  const box = await withAgent(
    `cat >/dev/null
     if [ -e one.txt ]; then git add --all; git commit --quiet --message "One"; exit; fi
     echo one >one.txt; git add --all; git commit --quiet --message "One"
     rm -rf "$(git rev-parse --absolute-git-dir)/refs"`,
    {},
  );
  expect((await box.ratchet("run")).code).toBe(1);
  const { message } = await box.issue("one");
  expect(message).toMatch(/the git folder of .* is damaged: `ratchet run --resume` makes .* anew, once/);
  expect(message).not.toMatch(/fatal|exit 128/);
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(box.read("one.txt")).toBe("one\n");
});

test("an agent that deletes its git folder and its worktree has left no work, and nothing has landed", async () => {
  const box = await withAgent(
    'cat >/dev/null; echo one >one.txt; git add --all; git commit --quiet --message "One"; d="$(git rev-parse --git-dir)"; rm -rf "$d" "$PWD"',
    {},
  );
  expect((await box.ratchet("run")).code).toBe(1);
  const landed = await box.ratchet("land", "one");
  expect([landed.code, landed.stderr]).toEqual([1, expect.stringContaining("one has no work that could land")]);
});

const tells = `echo '{"session_id": "s-1", "usage": {"input_tokens": 900, "output_tokens": 100, "cost_usd": 1.5}}' >"$RATCHET_RESULT_FILE"`;
const deletesWorktree = 'd="$PWD"; cd /; rm -rf "$d"';

test("A6 what an agent told of its turn is recorded although it deleted its worktree: --resume goes on from its branch, in its session", async () => {
  const box = await withAgent(
    `cat >/dev/null; echo "\${RATCHET_SESSION_ID:-new}" >>"$HOME/sessions"; ${tells}
     [ ! -e one.txt ] || exit 0
     ${commit}; ${deletesWorktree}`,
  );
  expect((await box.ratchet("run")).code).toBe(1);
  expect(await box.issue("one")).toMatchObject({
    error: "agent_failed",
    message: expect.stringMatching(/^The turn could not be brought to its end: .* is not there$/),
    session_id: "s-1",
    usage: { input_tokens: 900, output_tokens: 100, cost_usd: 1.5 },
  });
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(readFileSync(join(box.root, "sessions"), "utf8")).toBe("new\ns-1\n");
  expect(box.read("one.txt")).toBe("done\n");
});

/** An agent that commits inside the submodule `mod`, and after the gate's word does `then` there. */
async function bumpsSubmodule(then: string): Promise<Sandbox> {
  const local = "git -c protocol.file.allow=always -c user.name=a -c user.email=a@b";
  const box = await withAgent(
    `cat >/dev/null
     if [ "$RATCHET_ATTEMPT" != 1 ]; then cd mod; ${then}; exit; fi
     ${local} submodule --quiet update --init
     cd mod; echo fix >fix.txt; git add --all; ${local} commit --quiet --message "Fix"; cd ..
     git add --all; git commit --quiet --message "One"`,
  );
  const inner = join(box.root, "inner");
  box.git("clone", "--quiet", ".", inner);
  box.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "mod");
  box.git("commit", "--quiet", "--message", "Mod");
  return box;
}

test("work whose submodule is at a commit that was pushed nowhere does not land, not even from a new worktree, and is not lost", async () => {
  const box = await bumpsSubmodule("true");
  const before = box.git("rev-parse", "main");
  const run = await box.ratchet("run");
  expect([run.code, run.stdout]).toEqual([1, expect.stringContaining("The commit of a submodule is not pushed")]);
  expect(box.git("rev-parse", "main")).toBe(before);
  const [finding] = JSON.parse(await box.quick("findings", "one", "--json"));
  const mod = join(box.home, "worktrees", "shop", "one", "mod");
  expect(finding.body).toContain(`mod at ${box.git("-C", mod, "rev-parse", "HEAD").slice(0, 12)}`);
  const kept = join(box.root, "kept");
  box.git("clone", "--quiet", mod, kept);
  rmSync(join(box.home, "worktrees", "shop", "one"), { recursive: true });
  expect((await box.ratchet("run", "--resume", "--check-only", "one")).code).toBe(1);
  expect(box.git("rev-parse", "main")).toBe(before);
  box.git("-C", kept, "push", "--quiet", join(box.root, "inner"), "HEAD:refs/heads/fix");
  expect((await box.ratchet("run", "--resume", "--check-only", "one")).code).toBe(0);
  expect(box.git("rev-parse", "main:mod")).toBe(box.git("-C", join(box.root, "inner"), "rev-parse", "fix"));
});

test("an agent that is told to push what it has committed inside a submodule does so, and the work lands", async () => {
  const box = await bumpsSubmodule("git push --quiet origin HEAD:refs/heads/fix");
  expect((await box.ratchet("run")).code).toBe(0);
  const clone = join(box.root, "clone");
  box.git("-c", "protocol.file.allow=always", "clone", "--quiet", "--recurse-submodules", ".", clone);
  expect(readFileSync(join(clone, "mod/fix.txt"), "utf8")).toBe("fix\n");
  expect(await box.quick("worktree", "list")).toContain("No worktrees");
});
