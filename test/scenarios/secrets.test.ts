import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sandbox } from "./sandbox.js";

const key = "sk-verysecret-1234567890abcdef";
const env = { MY_API_KEY: key, MY_PASSWORD: "open sesame" };
const names = ["PATH", "HOME", "MY_API_KEY", "MY_PASSWORD"];
const long = "x".repeat(5000);

/** What the commands say whose output is handed on. */
async function handedOn(box: ReturnType<typeof sandbox>): Promise<string> {
  const commands = [
    ["runs", "export", "last"],
    ["logs", "show", "last", "--json"],
    ["observe", "--json"],
    ["export"],
    ["work", "show", "one", "--json"],
    ["findings", "one", "--all", "--json"],
    ["explain", "one", "--json"],
  ];
  const said = await Promise.all(commands.map(async (command) => (await box.start(command, { env }).ended).stdout));
  return said.join("\n");
}

const kept = (box: ReturnType<typeof sandbox>, name: string) =>
  execFileSync("grep", ["-rlF", key, join(box.home, "runs"), "--include", name], { encoding: "utf8" });

test("what an agent says of its end is told without secrets, also in JSON; its own files stay as they are", async () => {
  const box = sandbox();
  const command = box.script("agent.sh", `cat > /dev/null; echo "died with $MY_API_KEY, $MY_PASSWORD" >&2; exit 3`);
  box.configure({ agent: { type: "command", command, env: names } });
  await box.add("one");
  expect((await box.start(["run"], { env }).ended).code).toBe(1);
  const said = await handedOn(box);
  expect(said).toContain("exit code 3: died with [redacted], [redacted]");
  expect(said).not.toMatch(/sk-very|sesame/);
  expect(kept(box, "stderr.log")).toContain("01-implementer/stderr.log");
});

test("findings of a reviewer, long ones too, and what an agent says against them have no secrets in them", async () => {
  const box = sandbox();
  const work = `
cat > prompt; ids=$(grep -oE '\\b[0-9a-f]{16}(-2)?\\b' prompt | sort -u); rm prompt
if [ "$RATCHET_PROMPT_KIND" = implementer ]; then echo x > x; git add x; git commit -qm x
else for id in $ids; do echo "FINDING_REJECTED: $id $MY_API_KEY is meant"; done; fi`;
  const finding = (body: string, file = "x") =>
    `{"file": "${file}", "line_start": 1, "line_end": 1, "priority": 0, "title": "It has $MY_API_KEY", "body": "${body}", "reviewer": "by $MY_PASSWORD"}`;
  const review = `cat > /dev/null
if [ -e "$HOME/reviewed" ]; then echo '{"verdict": "pass", "findings": []}'; exit; fi
touch "$HOME/reviewed"; cat <<END
{"verdict": "fail", "findings": [${finding("$MY_PASSWORD", "a/$MY_API_KEY")}, ${finding(`${long} $MY_API_KEY`)}]}
END`;
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", work), env: names },
    per_issue_review: {
      ...{ enabled: true, reviewer_type: "command", command: box.script("review.sh", review), max_retries: 2 },
    },
  });
  await box.add("one");
  expect((await box.start(["run"], { env }).ended).code).toBe(0);
  const said = await handedOn(box);
  expect(said).toContain("It has [redacted]");
  expect(said).toContain(`${long} [redacted]`);
  expect(said).toContain("[redacted] is meant");
  for (const part of ['"file": "a/[redacted]"', '"by [redacted]"']) expect(said).toContain(part);
  expect(said).not.toMatch(/sk-very|sesame/);
});

test("names of files that a reviewer or a command made have no secrets in them where they are told", async () => {
  const box = sandbox();
  const review = `cat > /dev/null; touch "$MY_API_KEY.txt"; echo '{"verdict": "pass", "findings": []}'`;
  box.configure({
    agent: {
      type: "command",
      command: box.script("agent.sh", "cat > /dev/null; echo x > x; git add x; git commit -qm x"),
      env: names,
    },
    commands: { test: 'touch "$MY_PASSWORD"' },
    commands_env: ["MY_PASSWORD"],
    evidence_check: { required: ["test"] },
    per_issue_review: {
      ...{ enabled: true, reviewer_type: "command", command: box.script("review.sh", review), max_retries: 1 },
    },
  });
  await box.add("one");
  expect((await box.start(["run"], { env }).ended).code).toBe(1);
  const said = `${await handedOn(box)}\n${(await box.start(["logs", "show", "last"], { env }).ended).stdout}`;
  expect(said).toContain("the reviewer changed the tree ([redacted].txt)");
  expect(readFileSync(join(box.home, "runs", (await box.record()).run_id, "run.log"), "utf8")).toContain(
    "test changed files, which were put back: [redacted]",
  );
  expect(said).not.toMatch(/sk-very|sesame/);
});

test("what a stage of a workflow says has no secrets in what is told of it", async () => {
  const box = sandbox();
  box.write(
    ".ratchet/workflows/dev.awf.kdl",
    `workflow "dev" {
  version 2
  start "build"
  stage "build" kind="llm" prompt="$goal"
  stage "review" kind="llm" auto_status=true prompt="Review it"
  stage "exit" kind="exit"
  transition from="build" to="review"
  transition from="review" to="exit" when="outcome(\\"review\\") == \\"success\\""
}`,
  );
  const work = `cat > /dev/null
case "$RATCHET_STAGE_ID" in
build) echo x > x; git add x; git commit -qm x; echo Done ;;
review) echo "${long} $MY_API_KEY"; echo "[STATUS: fail]"; echo "[FAILURE_REASON: $MY_API_KEY is in it]" ;;
esac`;
  const command = box.script("agent.sh", work);
  box.configure({ agent: { type: "command", command, env: names, workflow: "dev" } });
  await box.add("one");
  expect((await box.start(["run"], { env }).ended).code).toBe(1);
  const said = await handedOn(box);
  expect(said).toContain("[redacted] is in it");
  expect(said).toContain(`${long} [redacted]`);
  expect(said).not.toContain("sk-very");
  expect(kept(box, "transcript.jsonl")).toContain("02-review/transcript.jsonl");
});
