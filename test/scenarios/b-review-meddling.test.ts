import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { resumeWorld, says } from "./resume-world.js";
import { type Ended, eventsOf, until } from "./sandbox.js";

/** Reviewers of a panel read the same files: one that changes them must not decide what the others say. */
const awaits = (name: string) =>
  `tries=0; while [ ! -e "$HOME/${name}" ]; do tries=$((tries + 1)); [ $tries -lt 600 ] || exit 1; sleep 0.05; done`;
const fault = { title: "Spoilt", file: "README.md", priority: 1 };
const judges = `if grep -q spoilt README.md; then ${says("fail", fault)}\nelse ${says("pass")}\nfi`;

function panelWorld(members: Readonly<Record<string, string>>, maxAgents = 6) {
  const world = resumeWorld({}, { max_agents: maxAgents });
  const panel = Object.entries(members).map(([name, shell]) => ({
    name,
    reviewer_type: "command",
    command: world.script(`member-${name}.sh`, `cat >/dev/null\n${shell}\n`),
  }));
  world.configure({ ...world.settings, per_issue_review: { enabled: true, reviewer_type: "panel", panel } });
  return world;
}

function verdicts(run: Ended): string[] {
  return eventsOf(run)
    .flatMap((event) => (event.type === "review-ended" ? [`${event.reviewer} ${event.verdict}`] : []))
    .sort();
}

test("D4: a member that changes files is the only one whose word does not count, whoever ends first", async () => {
  const world = panelWorld({
    // Ends while the files are spoilt.
    ada: `${awaits("spoilt")}; ${judges}; : >"$HOME/ada-is-done"`,
    // Has read nothing until they are put back.
    bob: `${awaits("ada-is-done")}; ${judges}`,
    mal: `echo spoilt >>README.md; : >"$HOME/spoilt"; ${awaits("ada-is-done")}; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  expect(verdicts(run)).toEqual(["ada pass", "bob pass", "mal protocol", "mal protocol", "mal protocol"]);
  expect(await world.issue("fix-it")).toMatchObject({
    error: "review_unavailable",
    message: "Review unavailable: no verdict from mal",
    last_review_issues: null,
  });
});

test("D4: a member that looks at another commit and comes back: what the others said meanwhile is asked again", async () => {
  const world = panelWorld({
    ada: `${awaits("away")}; [ -e "$HOME/seen" ] || { ls >"$HOME/seen"; : >"$HOME/ada-saw"; }; ls >"$HOME/seen-last"; ${says("pass")}`,
    mal: `if [ ! -e "$HOME/away" ]; then git checkout -q HEAD~1; : >"$HOME/away"; ${awaits("ada-saw")}; git checkout -q -; fi; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(verdicts(run)).toEqual(["ada pass", "mal pass"]);
  const starts = eventsOf(run).flatMap((event) => (event.type === "review-started" ? [event.reviewer] : []));
  expect(starts.sort()).toEqual(["ada", "ada", "mal", "mal"]);
});

test.each([
  ["removes .git", "rm -f .git"],
  [
    "makes a repository of its own",
    "rm -f .git; git init -q; git add -A; git -c user.name=m -c user.email=m@x commit -qm mine",
  ],
])("D4: a member that %s decides nothing, and who read meanwhile is asked again", async (_, act) => {
  const world = panelWorld({
    ada: `${awaits("cut")}\ngit diff --quiet "$RATCHET_BASE_SHA" "$RATCHET_HEAD_SHA"\nchanged=$?\n: >"$HOME/ada-is-done"\nif [ $changed = 1 ]; then ${says("fail", fault)}\nelse ${says("pass")}\nfi`,
    mal: `${act}; : >"$HOME/cut"; ${awaits("ada-is-done")}; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  expect(verdicts(run).filter((each) => each.endsWith("pass"))).toEqual([]);
  expect(verdicts(run)).toContain("ada fail");
  expect((await world.ratchet("worktree", "list", "--json")).stdout).not.toContain("parked/");
});

test("D4: members that wait for a place are not disturbed by what was changed before they began", async () => {
  const world = panelWorld({ ada: judges, mal: `echo spoilt >>README.md; ${says("pass")}` }, 1);
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(verdicts(run)).toEqual(["ada pass", "mal protocol", "mal protocol", "mal protocol"]);
});

/** A tracked file that git also ignores: whoever takes it out of the index leaves no other trace. */
function stagingWorld(review: object = {}) {
  const world = resumeWorld(review);
  world.write("local.cfg", "mine\n");
  world.write(".gitignore", "local.cfg\n");
  world.git("add", "--force", "local.cfg", ".gitignore");
  world.git("commit", "--quiet", "--message", "Settings");
  return world;
}
const unstages = "git rm --quiet --cached local.cfg";

test("D4: a reviewer that takes a file out of the index decides nothing, and the agent's next commit keeps the file", async () => {
  const world = stagingWorld();
  world.reviewerDoes(
    "fix-it",
    `if [ ! -e "$HOME/once" ]; then : >"$HOME/once"; ${unstages}; ${says("fail", fault)}\n` +
      `elif grep -q review_followup fix-it.txt; then ${says("pass")}\nelse git status --short >"$HOME/seen"; touch README.md; git status; ${says("fail", fault)}\nfi`,
  );
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  const told = eventsOf(run).flatMap((event) => (event.type === "review-ended" ? [[event.verdict, event.reason]] : []));
  expect(told).toMatchObject([
    ["protocol", "the reviewer changed the tree (index (local.cfg)); the changes were discarded"],
    ["fail", undefined],
    ["pass", undefined],
  ]);
  expect(world.read("../seen")).toBe("");
  expect(world.git("show", "main:local.cfg")).toBe("mine");
});

test("D1: an index that a reviewer changed before Ratchet was killed is put back by the next run", async () => {
  const world = stagingWorld();
  const first = `: >"$HOME/once"; ${unstages}; : >"$HOME/unstaged"; ${awaits("go")}`;
  world.reviewerDoes(
    "fix-it",
    `[ -e "$HOME/once" ] || { ${first}; }; git status --short >"$HOME/seen"; ${says("pass")}`,
  );
  await world.add("fix-it");
  const killed = world.start(["run"]);
  await until("the reviewer has unstaged the file", () => existsSync(join(world.root, "unstaged")));
  killed.kill("SIGKILL");
  await killed.ended;
  world.put("go", "");
  const run = await world.ratchet("run", "--json");
  expect([run.code, verdicts(run)]).toEqual([0, ["command pass", "command protocol"]]);
  expect(world.read("../seen")).toBe("");
});

test("D4: a member that changes the index disturbs the others, and it is put back for all", async () => {
  const world = panelWorld({
    ada: `${awaits("staged")}; ${says("pass")}`,
    mal: `git rm --quiet --cached README.md; : >"$HOME/staged"; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(verdicts(run)).toEqual(["ada pass", "mal protocol", "mal protocol", "mal protocol"]);
  const { worktree_path: path } = await world.issue("fix-it");
  expect(world.git("-C", path ?? "", "status", "--short")).toBe("");
});

test.each([
  ["deletes the git folder", 'rm -rf "$(git rev-parse --absolute-git-dir)"'],
  ["deletes the refs in it", 'rm -rf "$(git rev-parse --absolute-git-dir)/refs"'],
])("D4: a reviewer that %s has given no verdict, and the next one finds it whole", async (_what, harm) => {
  const world = panelWorld({
    mal: `if [ -e "$HOME/harmed" ]; then git log -1 >&2 || exit 1; else ${harm}; : >"$HOME/harmed"; fi; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(verdicts(run)).toEqual(["mal pass", "mal protocol"]);
  const reasons = eventsOf(run).flatMap((event) => (event.type === "review-ended" ? (event.reason ?? []) : []));
  expect(reasons).toEqual(["the reviewer changed the tree (.git); the changes were discarded"]);
  expect(run.code).toBe(0);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success" });
});

test("D4: where a reviewer has deleted the worktree, setup runs there before it is asked again", async () => {
  const world = resumeWorld(
    {},
    {
      commands: { setup: "mkdir -p deps && echo d >deps/d", check: "cat deps/d" },
      evidence_check: { required: ["check"] },
    },
  );
  world.put("shop/.git/info/exclude", "/ratchet.yaml\n/deps/\n");
  const deletes = `[ -e "$HOME/harmed" ] || { : >"$HOME/harmed"; w=$PWD; cd /; rm -rf "$w"; }`;
  world.reviewerDoes("fix-it", `${deletes}; [ ! -d "$PWD" ] || cat deps/d >"$HOME/seen"; ${says("pass")}`);
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect([run.code, verdicts(run)]).toEqual([0, ["command pass", "command protocol"]]);
  expect(world.read("../seen")).toBe("d\n");
});

test.each(["reviewer", "command"])(
  "D4: where a %s has deleted the worktree, what was copied there is back",
  async (who) => {
    const deletes = (name: string) => `[ -e "$HOME/${name}" ] || { : >"$HOME/${name}"; w=$PWD; cd /; rm -rf "$w"; }`;
    const first = who === "command" ? `${deletes("harmed")}; ` : "";
    const commands = { first: `${first}true`, check: "cat .env" };
    const world = resumeWorld(
      {},
      { commands, evidence_check: { required: ["first", "check"] }, worktree: { copy: [".env"] } },
    );
    world.put("shop/.git/info/exclude", "/ratchet.yaml\n/.env\n");
    world.write(".env", "copied\n");
    const second = who === "reviewer" ? `${deletes("harmed")}; ` : "";
    world.reviewerDoes("fix-it", `${second}[ ! -d "$PWD" ] || cat .env >"$HOME/seen"; ${says("pass")}`);
    await world.add("fix-it");
    expect((await world.ratchet("run")).code).toBe(0);
    expect(world.read("../seen")).toBe("copied\n");
  },
);

test("D4: the members beside one that deletes the git folder are asked again", async () => {
  const world = panelWorld({
    ada: `${awaits("harmed")}; ${says("pass")}\n: >"$HOME/ada-is-done"`,
    mal: `[ -e "$HOME/harmed" ] || { rm -rf "$(git rev-parse --absolute-git-dir)"; : >"$HOME/harmed"; ${awaits("ada-is-done")}; }; ${says("pass")}`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(verdicts(run)).toEqual(["ada pass", "mal pass"]);
  expect(run.code).toBe(0);
});

test.each([
  [
    "goes on another branch and deletes the issue's",
    "git checkout -q -b elsewhere; git branch -q -D ratchet/fix-it",
    "HEAD, refs/heads/ratchet/fix-it, refs/heads/elsewhere",
  ],
  ["leaves HEAD on no branch", "git checkout -q --detach", "HEAD"],
  ["leaves a branch", "git branch elsewhere", "refs/heads/elsewhere"],
  ["replaces what a commit is", "git replace HEAD HEAD~1", "refs/replace/…"],
  ["moves a tag of the agent", "git tag --force mine HEAD", "refs/tags/mine"],
  ["deletes a tag of the agent", "git tag --delete mine", "refs/tags/mine"],
  ["stashes what it has written", "echo spoilt >>README.md; git stash --quiet", "refs/stash"],
  ["drops an older stash of the agent", "git stash drop --quiet stash@{1}", "refs/stash"],
  ["drops all stashes of the agent", "git stash clear", "refs/stash"],
])("D4: a reviewer that %s has given no verdict, and it is put back", async (_what, harm, told) => {
  const world = resumeWorld();
  const look = "git symbolic-ref HEAD; git for-each-ref; git stash list --format='%gd %H %gs'";
  const stashed = (text: string) => `echo ${text} >>README.md; git stash --quiet`;
  world.agentDoes("fix-it", `git tag mine; ${stashed("one")}; ${stashed("two")}`);
  world.reviewerDoes(
    "fix-it",
    `if [ ! -e "$HOME/before" ]; then { ${look}; } >"$HOME/before"; ${harm}; else { ${look}; } >"$HOME/after"; fi; ${says("pass")}`,
  );
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect([run.code, verdicts(run)]).toEqual([0, ["command pass", "command protocol"]]);
  const reasons = eventsOf(run).flatMap((event) => (event.type === "review-ended" ? (event.reason ?? []) : []));
  expect(reasons.map((reason) => reason.replace(/[0-9a-f]{40}/, "…"))).toEqual([
    `the reviewer changed the tree (${told}); the changes were discarded`,
  ]);
  expect(world.read("../before")).toContain("refs/heads/ratchet/fix-it");
  expect(world.read("../after")).toBe(world.read("../before"));
});

test.each([
  ["a tag", "git tag made"],
  ["notes", "git notes add -m made HEAD"],
])("D4: a reviewer that leaves %s has only read, and it is put back", async (_what, leaves) => {
  const world = resumeWorld();
  const look = "git for-each-ref --format='%(refname)'";
  world.reviewerDoes(
    "fix-it",
    `if [ ! -e "$HOME/before" ]; then ${look} >"$HOME/before"; ${leaves}; ${says("fail", fault)}\n` +
      `else ${look} >"$HOME/after"; ${says("pass")}\nfi`,
  );
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect([run.code, verdicts(run)]).toEqual([0, ["command fail", "command pass"]]);
  expect(world.read("../after")).toBe(world.read("../before"));
});

test.each([
  ["packs and collects what is there", "git pack-refs --all --prune; git gc --quiet --prune=now"],
  ["asks the repository that it was cloned from", "git fetch --quiet origin"],
  ["asks for what the user's refspecs name", "git fetch --quiet origin '+refs/heads/*:refs/pull/*'"],
  [
    "has its objects fetched beforehand",
    "git fetch --quiet --prefetch origin; git fetch --quiet --prefetch --prune origin",
  ],
  ["asks for the status of files that were touched", "touch README.md; git status"],
])("D4: a reviewer that %s has only read", async (_what, reads) => {
  const world = resumeWorld();
  const origin = join(world.root, "origin");
  world.git("clone", "--quiet", "--bare", world.dir, origin);
  world.git("remote", "add", "origin", origin);
  world.git("fetch", "--quiet", "origin");
  const tree = world.git("rev-parse", "HEAD^{tree}");
  const newer = world.git("commit-tree", tree, "-p", "HEAD", "-m", "Theirs");
  world.git("push", "--quiet", "origin", `${newer}:refs/heads/main`, `${newer}:refs/tags/theirs`);
  world.git("update-ref", "refs/remotes/origin/main", "HEAD");
  world.agentDoes("fix-it", "git tag mine; echo x >>README.md; git stash --quiet");
  const look = "git for-each-ref; git stash list";
  world.reviewerDoes("fix-it", `{ ${look}; } >"$HOME/before"; ${reads} >&2 || exit 1; ${says("pass")}`);
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect([run.code, verdicts(run)]).toEqual([0, ["command pass"]]);
  expect(world.read("../before")).toContain("refs/tags/mine");
});

test.each([
  ["its commit", "git replace HEAD HEAD~1"],
  ["a file of its commit", "git replace HEAD:fix-it.txt HEAD~1:README.md"],
])("A8 an agent that replaces %s hides nothing from reviewers and commands", async (_what, replaces) => {
  const world = resumeWorld();
  world.configure({
    ...world.settings,
    commands: { check: 'git diff HEAD~1 HEAD >>"$HOME/seen"' },
    validation_triggers: { session_end: { failure_mode: "continue", commands: ["check"] } },
  });
  world.agentDoes(
    "fix-it",
    `echo evil >>fix-it.txt; git add --all; git commit --quiet --message Work; ${replaces}; exit`,
  );
  world.reviewerDoes("fix-it", `git diff "$RATCHET_BASE_SHA..$RATCHET_HEAD_SHA" >>"$HOME/seen"; ${says("pass")}`);
  await world.add("fix-it");
  const run = await world.ratchet("run");
  expect(run.code).toBe(0);
  // The gate, session_end and the reviewer.
  expect(world.read("../seen").match(/^\+evil$/gm)).toHaveLength(3);
});
