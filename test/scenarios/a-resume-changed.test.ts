import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { logLines, type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { failWith, pass, ran, triggerBox } from "./trigger-world.js";

/** Resuming after the world has changed: settings, worktree, branch, and what a person decided meanwhile. */
const blocking = { file: "a.ts", line_start: 10, line_end: 12, priority: 1, title: "Null deref", body: "x is null" };

async function failedWorld(review: object = {}, more: object = {}): Promise<ResumeWorld> {
  const world = resumeWorld({ max_retries: 1, ...review }, more);
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", blocking));
  expect((await world.ratchet("run")).code).toBe(1);
  world.reviewerDoes("fix-it", says("pass"));
  return world;
}

test("another kind of agent has no such session: the same findings go into a new one", async () => {
  const world = await failedWorld();
  const script = world.put(
    "script.yaml",
    JSON.stringify([{ do: [{ write: { path: "fix-it.txt", text: "scripted\n" } }, { commit: "Done" }] }]),
  );
  world.configure({ ...world.settings, agent: { type: "scripted", script } });
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("Using review_followup for resume: 1 issues");
  const { run_id } = await world.record();
  const prompt = await world.ratchet("logs", "prompt", run_id, "fix-it", "01");
  expect(prompt.stdout).toContain("Null deref");
  expect(world.read("fix-it.txt")).toBe("scripted\n");
});

test("another kind of agent under --strict: the issue fails before any turn", async () => {
  const world = await failedWorld();
  const script = world.put("script.yaml", "[]");
  world.configure({ ...world.settings, agent: { type: "scripted", script } });
  expect((await world.ratchet("run", "--resume", "--strict")).code).toBe(1);
  expect(await world.issue("fix-it")).toMatchObject({
    error: "session_not_found",
    message: expect.stringMatching(/^The session that run \S+ left is command's, not scripted's$/),
    last_review_issues: [{ title: "Null deref" }],
  });
});

test("findings of a reviewer that is no longer configured are superseded and not replayed", async () => {
  const world = resumeWorld();
  const [, script = ""] = world.script("member.sh", 'cat >/dev/null; . "$HOME/member-$RATCHET_REVIEWER"');
  const member = (name: string) => ({ name, reviewer_type: "command", command: ["sh", script] });
  const panel = (...names: string[]) => {
    world.configure({
      ...world.settings,
      per_issue_review: { enabled: true, reviewer_type: "panel", panel: names.map(member), max_retries: 1 },
    });
  };
  world.put("member-style", says("fail", { title: "Ugly", file: "b.ts" }));
  world.put("member-security", says("fail", blocking));
  panel("style", "security");
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(1);
  expect((await world.issue("fix-it")).last_review_issues).toHaveLength(2);
  panel("security");
  world.put("member-security", says("pass"));
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("Using review_followup for resume: 1 issues");
  expect(world.sent("fix-it").at(-1)?.text).not.toContain("Ugly");
  const all: { title: string; status: string; reason: string }[] = JSON.parse(
    await world.quick("findings", "fix-it", "--all", "--json"),
  );
  expect(all.find(({ title }) => title === "Ugly")).toMatchObject({
    status: "superseded",
    reason: "no longer checked",
  });
});

test("the review is switched off: its findings are superseded, the implementer prompt goes into the session", async () => {
  const world = await failedWorld();
  world.configure({ ...world.settings, per_issue_review: { enabled: false } });
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.sent("fix-it").at(-1)).toMatchObject({ kind: "implementer", session: "session-fix-it-00" });
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", message: "No review required" });
});

test("a flag leaves the review out: what it had found goes along, and becomes a follow-up issue when the work has landed", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("fail", blocking, { title: "Naming", file: "b.ts", priority: 3 }));
  await world.ratchet("run");
  expect((await world.ratchet("run", "--resume", "--disable-validations", "review")).code).toBe(0);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", review_attempts: 0 });
  const all: { id: string; title: string }[] = JSON.parse(await world.quick("work", "list", "--json"));
  const [followUp] = all.filter(({ title }) => title.startsWith("Follow-up of fix-it"));
  const findings: { reason: string }[] = JSON.parse(await world.quick("findings", "fix-it", "--all", "--json"));
  expect(findings.map(({ reason }) => reason)).toEqual(Array(2).fill(`tracked as ${followUp?.id}`));
  const shown = await world.quick("work", "show", followUp?.id ?? "");
  for (const { title } of [blocking, { title: "Naming" }]) expect(shown).toContain(title);
});

test("a flag leaves the review of a follow-up issue out: what blocked it has a follow-up issue of its own", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it");
  world.reviewerDoes("fix-it", says("pass", { title: "Naming", file: "b.ts", priority: 2 }));
  expect((await world.ratchet("run")).code).toBe(0);
  const followUpOf = async (source: string) => {
    const all: { id: string; title: string }[] = JSON.parse(await world.quick("work", "list", "--json"));
    return all.find(({ title }) => title.startsWith(`Follow-up of ${source}`))?.id ?? "";
  };
  const followUp = await followUpOf("fix-it");
  world.reviewerDoes(followUp, says("fail", blocking, { title: "Taste", file: "b.ts", priority: 3 }));
  expect((await world.ratchet("run")).code).toBe(1);
  expect((await world.ratchet("run", "--resume", "--disable-validations", "review")).code).toBe(0);
  const next = await followUpOf(followUp);
  const findings: { reason: string }[] = JSON.parse(await world.quick("findings", followUp, "--all", "--json"));
  expect(findings.map(({ reason }) => reason)).toEqual([`tracked as ${next}`, "no longer checked"]);
  const shown = await world.quick("work", "show", next);
  expect(shown).toContain(blocking.title);
  expect(shown).not.toContain("Taste");
});

test("a waived finding is not replayed; with none left it is the implementer prompt", async () => {
  const world = await failedWorld();
  const [finding] = JSON.parse(await world.quick("findings", "fix-it", "--json"));
  // As a narrow table has it.
  await world.quick("findings", "waive", `${finding.id.slice(0, 7)}…`, "--reason", "it is fine");
  world.reviewerDoes("fix-it", says("fail", blocking));
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  expect(run.stdout).not.toContain("Using review_followup");
  expect(world.sent("fix-it").at(-1)).toMatchObject({ kind: "implementer", session: "session-fix-it-00" });
});

test("the worktree is gone: it comes back from the branch, with the work, and base_sha stays", async () => {
  const world = await failedWorld();
  const { worktree_path, base_sha } = await world.issue("fix-it");
  rmSync(worktree_path ?? "", { recursive: true });
  world.write("later.txt", "of a person\n");
  world.git("add", "--all");
  world.git("commit", "--quiet", "--message", "Later");
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", base_sha, worktree_path });
  expect(world.git("show", "main:fix-it.txt")).toBe("implementer 1\nreview_followup 1");
});

test("the folder of all worktrees is gone: the work comes back from the branch", async () => {
  const world = await failedWorld();
  rmSync(join(world.home, "worktrees"), { recursive: true });
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.git("show", "main:fix-it.txt")).toBe("implementer 1\nreview_followup 1");
});

test("the folder of all worktrees is gone: what was left of one is put aside, and can still land", async () => {
  const world = await failedWorld();
  rmSync(join(world.home, "worktrees"), { recursive: true });
  const parked = await world.ratchet("worktree", "park", "fix-it");
  expect(parked).toMatchObject({ code: 0, stderr: "" });
  expect(parked.stdout).toContain("fix-it is put aside as refs/ratchet/parked/fix-it/1");
  expect((await world.ratchet("land", "fix-it")).code).toBe(0);
  expect(world.git("show", "main:fix-it.txt")).toBe("implementer 1");
});

test("the worktree was parked: it comes back with what was not committed", async () => {
  const world = await failedWorld();
  const { worktree_path } = await world.issue("fix-it");
  writeFileSync(join(worktree_path ?? "", "loose.txt"), "by hand\n");
  expect((await world.ratchet("worktree", "park", "fix-it")).code).toBe(0);
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.git("show", "main:loose.txt")).toBe("by hand");
  expect(world.git("show", "main:fix-it.txt")).toBe("implementer 1\nreview_followup 1");
});

test("nothing is left of the work: it starts anew, says so, and still has session and findings", async () => {
  const world = await failedWorld();
  const { run_id } = await world.record();
  rmSync(join(world.home, "worktrees"), { recursive: true });
  rmSync(join(world.home, "repos"), { recursive: true });
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  const { run_id: second } = await world.record();
  const lines = logLines(world, second).filter((line) => line.includes("warn"));
  expect(lines.join("\n")).toContain(`Nothing is left of the work of run ${run_id}`);
  expect(world.sent("fix-it").at(-1)).toMatchObject({ kind: "review_followup", session: "session-fix-it-00" });
  expect(world.git("show", "main:fix-it.txt")).toBe("review_followup 1");
});

test("neither the work nor a session is left: the implementer's prompt, followed by the findings", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it", { body: "What it is all about." });
  world.agentDoes("fix-it", 'rm "$RATCHET_RESULT_FILE"');
  world.reviewerDoes("fix-it", says("fail", blocking));
  expect((await world.ratchet("run")).code).toBe(1);
  for (const folder of ["worktrees", "repos"]) rmSync(join(world.home, folder), { recursive: true });
  world.agentDoes("fix-it", "echo better >better.txt");
  world.reviewerDoes("fix-it", says("pass"));
  const run = await world.ratchet("run", "--resume");
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("Using implementer in a new session for resume, followed by 1 issues from prior run");
  const [, last, ...more] = world.sent("fix-it");
  expect(more).toEqual([]);
  expect(last).toMatchObject({ kind: "implementer", session: "new", attempt: "1" });
  for (const part of ["What it is all about.", "Null deref"]) expect(last?.text).toContain(part);
});

test("A7 the work is gone and the agent does not know the session: the new one is told what the issue is", async () => {
  const world = resumeWorld({ max_retries: 1 });
  await world.add("fix-it", { body: "What it is all about." });
  world.reviewerDoes("fix-it", says("fail", blocking));
  expect((await world.ratchet("run")).code).toBe(1);
  for (const folder of ["worktrees", "repos"]) rmSync(join(world.home, folder), { recursive: true });
  world.agentDoes("fix-it", '[ -z "$RATCHET_SESSION_ID" ] || exit 66; echo better >better.txt');
  world.reviewerDoes("fix-it", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  const [asked, told, ...more] = world.sent("fix-it").slice(1);
  expect(more).toEqual([]);
  expect(asked).toMatchObject({ kind: "review_followup", session: "session-fix-it-00", attempt: "1" });
  expect(told).toMatchObject({ kind: "review_followup", session: "new", attempt: "1", text: asked?.text });
  for (const part of ["What it is all about.", "Null deref"]) expect(told?.text).toContain(part);
});

test("a person has fixed it by hand in the worktree: the resumed turn may leave it as it is", async () => {
  const world = await failedWorld();
  const { worktree_path } = await world.issue("fix-it");
  writeFileSync(join(worktree_path ?? "", "a.ts"), "fixed\n");
  world.agentDoes("fix-it", 'git add --all; git commit --quiet --message "What was found there"; exit 0');
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(world.git("show", "main:a.ts")).toBe("fixed");
});

test("C8 what the agent has merged of others is not reviewed as the issue's, after a resume neither", async () => {
  const merge = `tip=$(grep -o 'git merge [0-9a-f]*' | cut -d' ' -f3)
    git merge --quiet "$tip" >/dev/null || { git checkout --quiet --ours . && git add --all && git commit --quiet --no-edit; }`;
  const box = triggerBox({
    commands: {},
    triggers: {},
    // A person commits to the same file meanwhile; the first review passes, those of the merge do not.
    agent: `case $RATCHET_PROMPT_KIND in
      implementer) (cd "$HOME/shop" && echo person >a.txt && git add a.txt && git commit --quiet --message person) ;;
      gate_followup) ${merge} ;;
    esac`,
    reviewer: `if [ -e "$HOME/agree" ] || [ "$(grep -c '^review' "$HOME/ran")" = 1 ]; then ${pass}; else ${failWith("Wrong")}; fi`,
  });
  await box.add("a");
  expect((await box.ratchet("run")).code).toBe(1);
  const tip = box.git("rev-parse", "main");
  const { base_sha, review_base } = await box.issue("a");
  expect([review_base, base_sha === tip]).toEqual([tip, false]);
  box.put("agree", "");
  expect((await box.ratchet("run", "--resume")).code).toBe(0);
  expect(ran(box).at(-1)).toBe(`review a per_issue_review ${tip} ${box.git("rev-parse", "main")}`);
});

test("a conflict that nobody has merged is open and in the prompt of every life, until the work lands", async () => {
  const world = resumeWorld();
  const first = `case $RATCHET_PROMPT_KIND in
    implementer) (cd "$HOME/shop" && echo person >fix-it.txt && git add fix-it.txt && git commit --quiet --message person) ;;
    *) exit 1 ;;
  esac`;
  const standing = async () => {
    const findings: { title: string; status: string }[] = JSON.parse(await world.quick("findings", "--all", "--json"));
    return findings.flatMap(({ title, status }) => (title === "Conflict with main" ? [status] : []));
  };
  await world.add("fix-it");
  world.agentDoes("fix-it", first);
  expect((await world.ratchet("run")).code).toBe(1);
  world.agentDoes("fix-it", "exit 0");
  world.reviewerDoes("fix-it", "exit 1");
  for (const life of [2, 3]) {
    expect([life, (await world.ratchet("run", "--resume")).code]).toEqual([life, 1]);
    expect(world.sent("fix-it").at(-1)).toMatchObject({
      kind: "implementer",
      text: expect.stringContaining("Conflict with main"),
    });
    expect(await standing()).toEqual(["open"]);
  }
  world.agentDoes("fix-it", 'git merge --quiet --strategy ours "$(git -C "$HOME/shop" rev-parse main)"; exit 0');
  world.reviewerDoes("fix-it", says("pass"));
  expect((await world.ratchet("run", "--resume")).code).toBe(0);
  expect(await standing()).toEqual(["resolved"]);
});

const throwsAway = 'git merge --quiet --strategy ours --message merged "$(git -C "$HOME/shop" rev-parse main)"; exit 0';
const unasked = `echo mine >fix-it.txt; git add --all; git commit --quiet --message mine; ${throwsAway}`;
test.each([
  ["unasked", unasked, []],
  ["by a life after the one that was told to", "[ $RATCHET_PROMPT_KIND = implementer ] || exit 1", [throwsAway]],
])("C8 reviewers see that a merge, made %s, throws away what others did", async (_, first, later) => {
  const world = resumeWorld();
  await world.add("fix-it");
  const person = "echo person >fix-it.txt && git add --all && git commit --quiet --message person";
  world.agentDoes("fix-it", `[ -e "$HOME/once" ] || (touch "$HOME/once" && cd "$HOME/shop" && ${person})\n${first}`);
  expect((await world.ratchet("run")).code).toBe(later.length);
  for (const shell of later) {
    world.agentDoes("fix-it", shell);
    expect((await world.ratchet("run", "--resume")).code).toBe(0);
  }
  const theirs = world.git("log", "--format=%H", "--grep=person", "main");
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", review_base: theirs });
});
