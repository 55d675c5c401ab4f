import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { attemptsOf, eventsOf, program, type Sandbox, sandbox, until } from "./sandbox.js";

const finding = { file: "one.txt", line_start: 1, line_end: 1, priority: 0, title: "Too short", body: "Say more." };

/** One issue that lands, with an open remark of the reviewer when it objects. */
async function runOnce(box: Sandbox, { objects = false } = {}): Promise<string> {
  const answer = objects ? { verdict: "fail", findings: [finding] } : { verdict: "pass", findings: [] };
  const work = 'echo talking; echo x >> "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';
  const review = `cat > /dev/null; echo '${JSON.stringify(answer)}'\n`;
  box.configure({
    agent: { type: "command", command: box.script("agent", work) },
    per_issue_review: {
      enabled: true,
      reviewer_type: "command",
      command: box.script("review", review),
      max_retries: 1,
    },
  });
  await box.add("one");
  await box.ratchet("run");
  return (await box.record()).run_id;
}

test("logs and exports tell the same record, by prefix or last", async () => {
  const box = sandbox();
  const run = await runOnce(box);
  const record = JSON.parse((await box.ratchet("logs", "show", run, "--json")).stdout);
  expect(record).toEqual(JSON.parse((await box.ratchet("runs", "export", run.slice(0, -2))).stdout));
  expect(record).toMatchObject({
    run_id: run,
    project_id: "shop",
    repo_path: box.dir,
    status: "succeeded",
    exit_code: 0,
    target_branch: "main",
    run_end: null,
    issues: {
      one: {
        issue_id: "one",
        status: "success",
        branch: "ratchet/one",
        commit: box.git("rev-parse", "main"),
        gate_attempts: 1,
        review_attempts: 1,
        last_review_issues: null,
        session_end_result: { status: "skipped", reason: "not_configured" },
      },
    },
  });
  const list = JSON.parse((await box.ratchet("logs", "list", "--json")).stdout);
  expect(list).toMatchObject([{ run_id: run, status: "succeeded" }]);
  expect((await box.ratchet("logs", "list")).stdout).toContain(run);
  expect((await box.ratchet("logs", "show", "last")).stdout).toContain("1 of 1 issue succeeded");
  const unknown = await box.ratchet("runs", "export", "1999");
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining("no run 1999")]);
});

test("prompts and transcripts are printed as they were, the last one unless numbered", async () => {
  const box = sandbox();
  const run = await runOnce(box);
  const folders = attemptsOf(box, run, "one");
  const first = folders[0] ?? "";
  const prompt = readFileSync(join(box.home, "runs", run, "one", first, "prompt.md"), "utf8");
  expect((await box.ratchet("logs", "prompt", "last", "one", "1")).stdout).toBe(prompt);
  expect((await box.ratchet("logs", "prompt", "last", "one", "01")).stdout).toBe(prompt);
  const last = JSON.parse((await box.ratchet("logs", "prompt", "last", "one", "--json")).stdout);
  expect(last.folder).toContain("review");
  expect((await box.ratchet("logs", "transcript", "last", "one", "1")).stdout).toBe("talking\n");
  expect((await box.ratchet("logs", "transcript", "last", "one", "--list")).stdout).toBe(
    (await box.ratchet("logs", "prompt", "last", "one", "--list")).stdout,
  );
  const none = await box.ratchet("logs", "prompt", "last", "one", "77");
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining(first)]);
  expect((await box.ratchet("logs", "prompt", "last", "two")).code).toBe(1);
});

test("a transcript has control sequences only when it is asked for as it was printed", async () => {
  const box = sandbox();
  const work = "cat > /dev/null; printf '\\033[31mred\\033[0m\\033]0;title\\007 done\\n'; exit 1\n";
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  await box.ratchet("run");
  const shown = async (...how: string[]) =>
    (await box.ratchet("logs", "transcript", "last", "one", "1", ...how)).stdout;
  expect(await shown()).toBe("red done\n");
  expect(await shown("--raw")).toBe("\u001b[31mred\u001b[0m\u001b]0;title\u0007 done\n");
});

test("the last run of an issue is the last in which it got a prompt, whatever ran since", async () => {
  const box = sandbox();
  const run = await runOnce(box);
  await box.ratchet("run");
  expect((await box.record()).run_id).not.toBe(run);
  const { run_id } = JSON.parse((await box.ratchet("logs", "prompt", "last", "one", "--json")).stdout);
  expect(run_id).toBe(run);
  expect((await box.ratchet("logs", "transcript", "last", "one", "1")).stdout).toBe("talking\n");
  expect((await box.ratchet("logs", "prompt", "last", "one", "--list")).stdout).toContain("review");
  await box.add("two");
  for (const how of [["prompt"], ["prompt", "--list"], ["transcript", "--list"]]) {
    const told = await Promise.all(["two", "three"].map((id) => box.ratchet("logs", ...how, "last", id)));
    expect(told).toEqual([
      { code: 1, stdout: "", stderr: "ratchet: two has not been worked on yet\n  hint: ratchet explain two\n" },
      { code: 1, stdout: "", stderr: "ratchet: no issue three\n  hint: ratchet work list --all\n" },
    ]);
  }
});

test("logs follow tells a run to its end, as lines or as events", async () => {
  const box = sandbox();
  const run = await runOnce(box);
  const lines = (await box.ratchet("logs", "follow")).stdout.trimEnd().split("\n");
  expect(lines[0]).toContain(`run ${run} started`);
  expect(lines.at(-1)).toContain("exit code 0");
  const events = eventsOf(await box.ratchet("logs", "follow", run, "--json"));
  expect(events.at(-1)).toMatchObject({ type: "run-finished", run_id: run });
});

test("findings are listed, told in full, and settled by a waiver with a reason", async () => {
  const box = sandbox();
  await runOnce(box, { objects: true });
  const open = JSON.parse((await box.ratchet("findings", "--json")).stdout);
  expect(open).toMatchObject([
    { ...finding, issue_id: "one", source: "review", status: "open", visit: 1, reviewers: ["command"] },
  ]);
  expect((await box.ratchet("findings", "one")).stdout).toContain("Say more.");
  expect((await box.ratchet("findings", "nobody")).code).toBe(1);
  const [{ id }] = open;
  expect((await box.ratchet("findings", "waive", id, "--reason", " ")).code).toBe(2);
  expect((await box.ratchet("findings", "waive", id.slice(0, 6), "--reason", "on purpose")).code).toBe(0);
  expect(JSON.parse((await box.ratchet("findings", "--json")).stdout)).toEqual([]);
  const all = JSON.parse((await box.ratchet("findings", "one", "--all", "--json")).stdout);
  expect(all).toMatchObject([{ id, status: "waived", reason: "on purpose" }]);
  expect((await box.ratchet("findings", "waive", id, "--reason", "again")).code).toBe(1);
});

test.each([
  ["behind", ["findings", "waive"], ["--json"]],
  ["before", ["findings", "--json", "waive"], []],
] as const)("a waiver is told as JSON, asked for %s the command's name", async (_, command, more) => {
  const box = sandbox();
  await runOnce(box, { objects: true });
  const [{ id }] = JSON.parse((await box.ratchet("findings", "--json")).stdout);
  const ended = await box.ratchet(...command, id, "--reason", "on purpose", ...more);
  expect(ended).toMatchObject({ code: 0, stderr: "" });
  const told = { id, issue_id: "one", status: "waived", reason: "on purpose", told_run: null };
  expect(JSON.parse(ended.stdout)).toEqual(told);
});

test("diff shows what an issue changed, landed or not", async () => {
  const box = sandbox();
  await runOnce(box);
  const { stdout } = await box.ratchet("diff", "one");
  expect(stdout).toContain("+++ b/one.txt");
  expect((await box.ratchet("diff", "one", "--stat")).stdout).toBe("one.txt\n");
  expect((await box.ratchet("diff", "nobody")).code).toBe(1);
});

test("diff of an issue that never merged what it conflicts with does not show others' work as deleted", async () => {
  const box = sandbox();
  const theirs = `cd ${box.dir} && echo theirs | tee same.txt >theirs.txt && git add -A && git commit -q -m Theirs`;
  const work = `cat >/dev/null; [ -e same.txt ] || (${theirs}); echo x >>same.txt; git add -A; git commit -q -m "Did it"\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  // What is to be merged is not forgotten: whoever goes on is judged by it.
  const { review_base, unmerged } = await box.issue("one");
  expect([review_base, unmerged]).toEqual([undefined, box.git("rev-parse", "main")]);
  expect(await box.quick("diff", "one", "--stat")).toBe("same.txt\n");
  const shown = await box.quick("diff", "one");
  expect(shown).not.toContain("theirs");
  await box.ratchet("worktree", "park", "one");
  expect(await box.quick("diff", "one")).toBe(shown);
});

/** The name's bytes as `printf` takes them, and as the name is shown. */
const oddNames: readonly (readonly [string, string])[] = [
  ["plain.js", "plain.js"],
  ["\\303\\274ber.js", "über.js"],
  ["\\346\\227\\245.txt", "日.txt"],
  ["q\\042q", '"q\\"q"'],
  ["back\\134slash", '"back\\\\slash"'],
  ["new\\012line", '"new\\nline"'],
  ["tab\\011x", '"tab\\tx"'],
  ["esc\\033[31m", '"esc\\033[31m"'],
  ["raw\\377\\303\\274q\\042", '"raw\\377\\303\\274q\\""'],
];
const makeOdd = (prefix: string) => oddNames.map(([bytes]) => `printf x > "$(printf '${prefix}${bytes}')"\n`).join("");

test("diff names every file, whatever it is called: committed, loose and parked", async () => {
  const box = sandbox();
  const work = `cat > /dev/null; ${makeOdd("done-")} git add -A && git commit -q -m "Did it"\n${makeOdd("loose-")} exit 1`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  await box.ratchet("run");
  const expected = ["done-", "loose-"].flatMap((prefix) =>
    oddNames.map(([, shown]) => (shown.startsWith('"') ? `"${prefix}${shown.slice(1)}` : prefix + shown)),
  );
  const named = async () => (await box.ratchet("diff", "one", "--stat")).stdout.trimEnd().split("\n").sort();
  expect(await named()).toEqual(expected.sort());
  expect((await box.ratchet("diff", "one")).stdout).toContain("+++ b/loose-über.js");
  await box.ratchet("worktree", "park", "one");
  expect(await named()).toEqual(expected.sort());
});

test("diff says what it does not show, and that nothing is left of work whose parked ref is lost", async () => {
  const box = sandbox();
  const work = `cat > /dev/null; echo x > done.txt && git add -A && git commit -q -m x
    git init -q inner && echo y > inner/file; exit 1`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  await box.ratchet("run");
  const told = "ratchet: inner/ is a repository of its own, and is not shown\n";
  expect(await box.ratchet("diff", "one", "--stat")).toEqual({ code: 0, stdout: "done.txt\n", stderr: told });
  expect(await box.ratchet("diff", "one")).toMatchObject({ code: 0, stderr: told });
  await box.ratchet("worktree", "park", "one");
  expect((await box.ratchet("diff", "one", "--stat")).code).toBe(0);
  const mirror = join(box.home, "repos", "shop.git");
  box.git("-C", mirror, "update-ref", "refs/ratchet/parked/other/1", "refs/ratchet/parked/one/1");
  box.git("-C", mirror, "update-ref", "-d", "refs/ratchet/parked/one/1");
  const { code, stderr } = await box.ratchet("diff", "one");
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining("ratchet: nothing is left to show of the work on one: it has no"),
  ]);
});

test("what diff prints into a pipe or a file is applied byte for byte", async () => {
  const box = sandbox();
  const made = [
    "printf 'caf\\351\\n' > latin.txt",
    "printf x > \"$(printf 'raw\\377')\"",
    "printf 'a\\000\\377b' > data.bin",
    'printf "a\\r\\nb" > ends.txt',
  ].join("; ");
  const work = `cat > /dev/null; ${made}; git add -A && git commit -q -m "Did it"; printf '\\377\\n' >> latin.txt; exit 1`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  await box.ratchet("run");
  const sums = (cwd: string) => execFileSync("sh", ["-c", "sha256sum *"], { cwd, encoding: "utf8" });
  const applied = (name: string, how: string) => {
    const clone = join(box.root, name);
    box.git("worktree", "add", "--quiet", "--detach", clone, "HEAD");
    const shell = `"${process.execPath}" "${program}" diff one ${how.replace("git", `git -C "${clone}"`)}`;
    execFileSync("sh", ["-ec", shell], { cwd: box.dir, env: box.env });
    return sums(clone);
  };
  const expected = sums(join(box.home, "worktrees/shop/one"));
  expect(applied("pipe", "| git apply")).toBe(expected);
  expect(applied("file", ">../patch; git apply ../patch")).toBe(expected);
  await box.ratchet("worktree", "park", "one");
  expect(applied("parked", "| git apply")).toBe(expected);
});

test("a reviewer reads the names of files as they are", async () => {
  const box = sandbox();
  const work = 'echo x > über.js && git add -A && git commit -q -m "Did it"\n';
  const review = `cat > ${box.put("asked", "")}; echo '{"verdict": "pass", "findings": []}'\n`;
  box.configure({
    agent: { type: "command", command: box.script("agent", work) },
    per_issue_review: { enabled: true, reviewer_type: "command", command: box.script("review", review) },
  });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(0);
  expect(readFileSync(join(box.root, "asked"), "utf8")).toContain("+++ b/über.js");
});

test("a failed issue's worktree is listed, put aside and brought back with its untracked files", async () => {
  const box = sandbox();
  await runOnce(box, { objects: true });
  const [view] = JSON.parse((await box.ratchet("worktree", "list", "--json")).stdout);
  expect(view).toMatchObject({ issue: "one", branch: "ratchet/one", present: true, parked: [] });
  writeFileSync(join(view.path, "loose.txt"), "not committed\n");
  const flagged = "echo changed >>README.md && git update-index --skip-worktree README.md && git init --quiet nested";
  execFileSync("sh", ["-c", `${flagged} && echo x >nested/x`], { cwd: view.path, env: box.env });
  const asIs = execFileSync("git", ["status", "--porcelain"], { cwd: view.path, env: box.env }).toString();
  const shown = await box.ratchet("diff", "one");
  expect(shown.stdout).toContain("+not committed");
  const files = "README.md\nloose.txt\none.txt\n";
  expect((await box.ratchet("diff", "one", "--stat")).stdout).toBe(files);
  expect(execFileSync("git", ["status", "--porcelain"], { cwd: view.path, env: box.env }).toString()).toBe(asIs);
  const parked = JSON.parse((await box.ratchet("worktree", "park", "one", "--json")).stdout);
  expect(parked.ref).toMatch(/^refs\/ratchet\/parked\/one\//);
  expect(existsSync(view.path)).toBe(false);
  expect((await box.ratchet("diff", "one")).stdout).toBe(shown.stdout);
  const restored = await box.ratchet("worktree", "restore", "one");
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining(view.path)]);
  expect(readFileSync(join(view.path, "loose.txt"), "utf8")).toBe("not committed\n");
  expect((await box.ratchet("worktree", "park", "nobody")).code).toBe(1);
});

test("status says when the user's branch could not follow what has landed", async () => {
  const box = sandbox();
  box.write("one.txt", "mine, not committed\n");
  await runOnce(box);
  const { stdout } = await box.ratchet("status");
  expect(stdout).toContain(
    "main is behind: untracked one.txt would be overwritten, run `git merge --ff-only --no-overwrite-ignore refs/ratchet/landed/main`",
  );
  expect(box.read("one.txt")).toBe("mine, not committed\n");
});

test("looking works from below the top of the repository, and registers nothing outside of one", async () => {
  const box = sandbox();
  await runOnce(box);
  box.write("deep/er/file", "");
  const below = await box.start(["logs", "list"], { cwd: join(box.dir, "deep", "er") }).ended;
  expect(below.stdout).toContain("succeeded");
  expect((await box.start(["status"], { cwd: box.root }).ended).code).toBe(0);
  const projects = JSON.parse((await box.ratchet("project", "list", "--json")).stdout);
  expect(projects).toHaveLength(1);
});

test("status says what no run goes on with by itself, and what helps", async () => {
  const box = sandbox();
  await runOnce(box, { objects: true });
  const nothing = "Nothing is running. Start with `ratchet run`.\n";
  expect(await box.quick("status")).toBe(`${nothing}Left: 1 failed (ratchet run --resume)\n`);
  for (const id of ["two", "three"]) await box.add(id);
  for (let time = 0; time < 3; time++) await box.quick("work", "fail", "two", "--reason", "no");
  const left = "Left: 1 failed (ratchet run --resume), 1 quarantined (ratchet retry <id>)";
  expect(await box.quick("status")).toBe(`${nothing}${left}\n`);
  const told = JSON.parse(await box.quick("status", "--json"));
  expect(told).toMatchObject({ runs: [], left: { failed: 1, waiting_for_response: 0, quarantined: 1 } });
  await box.quick("retry", "one");
  await box.quick("retry", "two");
  expect(await box.quick("status")).toBe(nothing);
});

test("status and logs list of a repository that is not known yet tell of no other project's runs", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", ': >"$HOME/begun"; sleep 600\n') } });
  await box.add("one");
  const killed = box.start(["run"]);
  await until("the agent is at work", () => existsSync(join(box.root, "begun")));
  killed.kill("SIGKILL");
  await killed.ended;
  const other = join(box.root, "other");
  execFileSync("git", ["clone", "--quiet", box.dir, other], { env: box.env });
  const there = async (...args: string[]) => await box.start(args, { cwd: other }).ended;
  const said = await there("status");
  expect([said.code, said.stdout]).toEqual([0, "Nothing is running. Start with `ratchet run`.\n"]);
  expect(said.stderr).toContain("is not known yet");
  expect(JSON.parse((await there("status", "--json")).stdout)).toMatchObject({ runs: [], untold: [] });
  expect((await there("logs", "list", "--json")).stdout.trim()).toBe("[]");
  const named = /^run \S+ of shop: nobody drives it/;
  expect((await there("status", "--all")).stdout).toMatch(named);
  expect((await box.start(["status"], { cwd: box.root }).ended).stdout).toMatch(named);
  expect(await box.quick("status")).toMatch(/^run \S+: nobody drives it/);
  expect(JSON.parse((await there("logs", "list", "--all", "--json")).stdout)).toHaveLength(1);
});
