import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventsOf, sandbox } from "./sandbox.js";

const ids = Array.from({ length: 20 }, (_, index) => `task-${index + 1}`);

/** Makes a file of its own and writes down where it works, from when to when. */
const agent = `
cat >/dev/null
echo "start $RATCHET_ISSUE_ID" >>"$HOME/agents.log"
sleep 0.3
mkdir -p "parts/$RATCHET_ISSUE_ID"
echo "$RATCHET_ISSUE_ID" >"parts/$RATCHET_ISSUE_ID/file.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
echo "$RATCHET_ISSUE_ID $(pwd -P) $(git symbolic-ref --short HEAD) $(git rev-parse HEAD)" >>"$HOME/places.log"
echo "end $RATCHET_ISSUE_ID" >>"$HOME/agents.log"
`;

test("C17 twenty issues with six agents: each in its own worktree and branch, all merged, none in another's diff", async () => {
  const box = sandbox();
  box.configure({
    commands: { check: 'test "$(cat parts/$RATCHET_ISSUE_ID/file.txt)" = "$RATCHET_ISSUE_ID"' },
    evidence_check: { required: ["check"] },
    agent: { type: "command", command: box.script("agent.sh", agent) },
  });
  for (const id of ids) await box.add(id);
  const run = await box.ratchet("run", "--json", "--max-agents", "6");
  expect(run.code).toBe(0);
  const { issues, status } = await box.record();
  expect(status).toBe("succeeded");
  const places = readFileSync(join(box.root, "places.log"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  expect(new Set(places.map(([, path]) => path)).size).toBe(20);
  for (const [id = "", path, branch, head = ""] of places) {
    const issue = issues[id];
    expect(issue, id).toMatchObject({ status: "success", branch, worktree_path: path });
    expect(branch).toBe(`ratchet/${id}`);
    expect(box.git("diff", "--name-only", `${issue?.base_sha}..${head}`)).toBe(`parts/${id}/file.txt`);
    box.git("merge-base", "--is-ancestor", head, "main");
    box.git("merge-base", "--is-ancestor", issue?.commit ?? "none", "main");
  }
  expect(places).toHaveLength(20);
  expect(box.git("ls-tree", "-r", "--name-only", "main").split("\n").sort()).toEqual(
    ["README.md", ...ids.map((id) => `parts/${id}/file.txt`)].sort(),
  );
  expect(box.git("status", "--porcelain")).toBe("");
  expect(mostAtOnce(readFileSync(join(box.root, "agents.log"), "utf8"))).toBeLessThanOrEqual(6);
  const seqs = eventsOf(run).map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

function mostAtOnce(log: string): number {
  let [now, most] = [0, 0];
  for (const line of log.split("\n")) {
    now += line.startsWith("start ") ? 1 : line.startsWith("end ") ? -1 : 0;
    most = Math.max(most, now);
  }
  return most;
}

/** Both begin before either ends; who is told of a conflict merges what the finding names and keeps both lines. */
const conflicting = `
prompt=$(cat)
: >"$HOME/began-$RATCHET_ISSUE_ID"
if [ "$RATCHET_PROMPT_KIND" = implementer ]; then
  while [ ! -e "$HOME/began-one" ] || [ ! -e "$HOME/began-two" ]; do sleep 0.02; done
  echo "first line by $RATCHET_ISSUE_ID" >shared.txt
  git commit --quiet --all --message "Line of $RATCHET_ISSUE_ID"
  exit
fi
printf '%s' "$prompt" >"$HOME/conflict-$RATCHET_ISSUE_ID"
tip=$(printf '%s' "$prompt" | sed -n 's/^Merge \\([0-9a-f]\\{40\\}\\) into the branch.*/\\1/p')
git merge --quiet --no-edit "$tip"
printf 'first line by one\\nfirst line by two\\n' >shared.txt
git add shared.txt && git commit --quiet --message "Merge the target, keep both lines"
`;

test("C17 of two issues that edit the same line the second is told, merges and lands", async () => {
  const box = sandbox();
  box.write("shared.txt", "first line\n");
  box.git("add", "--all");
  box.git("commit", "--quiet", "--message", "A shared file");
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", conflicting) },
    max_agents: 2,
    per_issue_review: {
      enabled: true,
      reviewer_type: "command",
      command: box.script("review.sh", `cat >/dev/null; echo '{"verdict": "pass", "findings": []}'`),
    },
  });
  await box.add("one");
  await box.add("two");
  const run = await box.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(box.read("shared.txt")).toBe("first line by one\nfirst line by two\n");
  const raised = eventsOf(run).filter((event) => event.type === "finding-raised");
  expect(raised).toMatchObject([{ source: "merge", title: "Conflict with main" }]);
  const second = raised[0]?.issue_id ?? "";
  const prompt = readFileSync(join(box.root, `conflict-${second}`), "utf8");
  expect(prompt).toContain("Files in conflict:\nshared.txt");
  const { issues } = await box.record();
  expect(issues[second]).toMatchObject({ status: "success", review_attempts: 2, findings: { open: 0, resolved: 1 } });
  expect(issues[second]?.review_base).toBe(issues[second === "one" ? "two" : "one"]?.commit);
  expect(box.git("log", "--format=%s", "main")).toContain("Line of one");
  expect(box.git("log", "--format=%s", "main")).toContain("Line of two");
});
