import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type ResumeWorld, resumeWorld, says } from "./resume-world.js";
import { type Ended, eventsOf } from "./sandbox.js";

/** Several reviewers on one commit, and reviewers that wrap their verdict in whatever they like. */
const wrong = (by: string) => ({ title: `Wrong to ${by}`, file: `${by}.ts`, priority: 1 });

function panelWorld(members: Readonly<Record<string, string>>, more: object = {}, places = 6): ResumeWorld {
  const world = resumeWorld({}, { max_agents: places });
  const panel = Object.entries(members).map(([name, shell]) => ({
    name,
    reviewer_type: "command",
    command: world.script(`member-${name}.sh`, `cat >"$HOME/asked-$RATCHET_REVIEWER-$RATCHET_ATTEMPT"\n${shell}\n`),
  }));
  const per_issue_review = { enabled: true, reviewer_type: "panel", panel, ...more };
  world.configure({ ...world.settings, per_issue_review });
  return world;
}

/** "<round> <reviewer>", in the order they were started; those that start together by name. */
function reviews(run: Ended, type: "review-started" | "review-ended"): string[] {
  return eventsOf(run).flatMap((event) => {
    if (event.type === "review-started" && type === event.type) return [`${event.attempt} ${event.reviewer}`];
    if (event.type === "review-ended" && type === event.type)
      return [`${event.attempt} ${event.reviewer} ${event.verdict}`];
    return [];
  });
}

test("a panel's members run side by side, all of them whatever the others say, and one fix turn gets the union", async () => {
  const together = `
: >"$HOME/here-$RATCHET_REVIEWER-$RATCHET_ATTEMPT"
tries=0
for other in ada bob cyd; do
  while [ ! -e "$HOME/here-$other-1" ]; do tries=$((tries + 1)); [ $tries -lt 400 ] || exit 1; sleep 0.05; done
done
`;
  const verdict = (by: string) =>
    `${together}if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong(by))}\nelse ${says("pass")}\nfi`;
  const world = panelWorld({ ada: verdict("ada"), bob: verdict("bob"), cyd: together + says("pass") });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(reviews(run, "review-ended").slice(0, 3).sort()).toEqual(["1 ada fail", "1 bob fail", "1 cyd pass"]);
  const [, followup, ...more] = world.sent("fix-it");
  expect(more).toEqual([]);
  expect(followup?.text).toContain("Wrong to ada");
  expect(followup?.text).toContain("Wrong to bob");
});

test("after a fix only who still had findings looks first, then the rest once, on the final commit", async () => {
  // ada blocks in round 1; cyd only sees something in what ada's fix brought.
  const world = panelWorld({
    ada: `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong("ada"))}\nelse ${says("pass")}\nfi`,
    bob: says("pass"),
    cyd: `if [ "$RATCHET_ATTEMPT" = 2 ]; then ${says("fail", wrong("cyd"))}\nelse ${says("pass")}\nfi`,
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(reviews(run, "review-started")).toEqual([
    ...["1 ada", "1 bob", "1 cyd"],
    ...["2 ada", "2 bob", "2 cyd"],
    ...["3 cyd", "3 ada", "3 bob"],
  ]);
  const events = eventsOf(run);
  const at = (what: string) =>
    events.findIndex(
      (one) => `${one.type} ${"attempt" in one ? one.attempt : ""} ${"reviewer" in one ? one.reviewer : ""}` === what,
    );
  expect(at("review-ended 2 ada")).toBeLessThan(at("review-started 2 bob"));
  expect(at("review-ended 3 cyd")).toBeLessThan(at("review-started 3 ada"));
  const commits = events.flatMap((one) => (one.type === "review-started" ? [`${one.attempt} ${one.commit}`] : []));
  expect(new Set(commits).size).toBe(3);
  const landed = events.find((one) => one.type === "landed");
  expect(commits.at(-1)).toBe(`3 ${landed?.type === "landed" ? landed.commit : ""}`);
  expect(await world.issue("fix-it")).toMatchObject({ status: "success", review_attempts: 3 });
});

test("one member without a verdict: only it runs again, and nothing is decided before", async () => {
  const world = panelWorld({
    ada: `if [ -e "$HOME/ada-was-here" ]; then ${says("pass")}\nelse : >"$HOME/ada-was-here"; echo "I think it is fine"; fi`,
    bob: says("pass"),
  });
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(0);
  expect(reviews(run, "review-ended").sort()).toEqual(["1 ada pass", "1 ada protocol", "1 bob pass"]);
  expect(world.sent("fix-it")).toHaveLength(1);
  const asked = (name: string) => readFileSync(`${world.root}/asked-${name}-1`, "utf8");
  expect(asked("ada")).toMatch(/## Your last answer\n\n.*did not count[\s\S]*\n~+\nno verdict in the output\n~+\n/);
  expect(asked("bob")).not.toContain("## Your last answer");
});

test("a member that never gives a verdict: the others' findings are fixed first, then the review is unavailable", async () => {
  const world = panelWorld(
    {
      ada: "echo nothing",
      bob: `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong("bob"))}\nelse ${says("pass")}\nfi`,
    },
    { max_retries: 2 },
  );
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(1);
  expect(world.sent("fix-it").map(({ kind }) => kind)).toEqual(["implementer", "review_followup"]);
  expect(world.sent("fix-it")[1]?.text).not.toContain("No verdict");
  expect(await world.issue("fix-it")).toMatchObject({ status: "failed", error: "review_unavailable", commit: null });
});

test("two members that see one defect make one finding with both names", async () => {
  const seen = { title: "Null deref of user", file: "a.ts", priority: 1 };
  const world = panelWorld(
    {
      ada: says("fail", { ...seen, line_start: 10, line_end: 12 }),
      bob: says("fail", { ...seen, title: "Null dereference of user", line_start: 12, line_end: 13 }),
    },
    { max_retries: 1 },
  );
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(1);
  const open: { reviewers: string[] }[] = JSON.parse(await world.quick("findings", "fix-it", "--json"));
  expect(open).toHaveLength(1);
  expect([...(open[0]?.reviewers ?? [])].sort()).toEqual(["ada", "bob"]);
});

test("what two members say of one finding in other words is told wherever the finding is", async () => {
  const said = (name: string, line: number, priority: number) =>
    says("fail", { title: `No test for an empty ${name}`, body: `${name} `.repeat(900), line_start: line, priority });
  const world = panelWorld({ ada: said("name", 10, 1), bob: said("email", 12, 0) }, { max_retries: 2 }, 1);
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(1);
  const [first, second] = ["name ".repeat(900), "email ".repeat(900)];
  const all = `${first}\n\nAlso reported by bob (a.ts:12, P0): No test for an empty email\n\n${second}`;
  const fixes = () => world.sent("fix-it").filter(({ kind }) => kind === "review_followup");
  expect(fixes().map(({ text }) => text.includes(all.trimEnd()))).toEqual([true]);
  const asked = readFileSync(`${world.root}/asked-bob-2`, "utf8");
  expect([asked.includes(second.trim()), asked.includes("empty name"), asked.includes("by ada, bob")]).toEqual([
    ...[true, false, true],
  ]);
  const [found] = JSON.parse(await world.quick("findings", "fix-it", "--json"));
  expect(found.also_reported).toMatchObject([{ reviewer: "bob", line_start: 12, priority: 0, body: second }]);
  expect(await world.quick("findings", "fix-it")).toContain("Also reported by bob (a.ts:12, P0)");
  const record = await world.issue("fix-it");
  expect(record.last_review_issues).toMatchObject([{ title: "No test for an empty name", body: all.trimEnd() }]);
  expect(Object.keys(record.last_review_issues?.[0] ?? {})).not.toContain("also_reported");
  await world.ratchet("run", "--resume");
  expect(fixes()[1]?.text.split(second.trim())).toHaveLength(2);
  const other = resumeWorld();
  await other.add("fix-it");
  await other.quick("runs", "import", other.put("run.json", await world.quick("runs", "export", "last")));
  expect((await other.ratchet("run", "--resume")).code).toBe(0);
  expect(other.sent("fix-it")[0]?.text).toContain(all.trimEnd());
});

test("a follow-up issue has what each member says of one finding", async () => {
  const said = (name: string) =>
    says("fail", { title: `No test for an empty ${name}`, body: `of ${name}`, priority: 2 });
  const world = panelWorld({ ada: said("name"), bob: said("email") }, {}, 1);
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(0);
  const { body } = JSON.parse(await world.quick("work", "show", "shop-1", "--json"));
  expect(body).toContain("of name\n  \n  Also reported by bob");
  expect(body).toContain("No test for an empty email\n  \n  of email");
});

test("the reviewer is given the issue, the diff, its own earlier findings and the implementer's answer", async () => {
  const world = panelWorld({
    ada: `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong("ada"))}\nelse ${says("pass")}\nfi`,
    bob: `if [ "$RATCHET_ATTEMPT" = 1 ]; then ${says("fail", wrong("bob"))}\nelse ${says("pass")}\nfi`,
  });
  await world.add("fix-it", { title: "Make it right", body: "so that it is right" });
  world.agentDoes("fix-it", 'if [ "$RATCHET_PROMPT_KIND" = review_followup ]; then echo "I have made it right"; fi');
  expect((await world.ratchet("run")).code).toBe(0);
  const asked = (name: string) => readFileSync(`${world.root}/asked-${name}`, "utf8");
  expect(asked("ada-1")).toContain("so that it is right");
  expect(asked("ada-1")).toContain("+implementer 1");
  expect(asked("ada-2")).toContain("+review_followup 2");
  expect(asked("ada-2")).toContain("Wrong to ada");
  expect(asked("ada-2")).toContain("I have made it right");
  expect(asked("ada-2")).not.toContain("Wrong to bob");
});

test("a reviewer is told of nothing that it has not found itself, also in session_end, whose reviewers share a stage", async () => {
  const keep = `n=$(ls "$HOME" | grep -c "^told-$RATCHET_REVIEWER-")
mv "$HOME/asked-$RATCHET_REVIEWER-$RATCHET_ATTEMPT" "$HOME/told-$RATCHET_REVIEWER-$n"
`;
  const early = says("fail", { ...wrong("ada"), reviewer: "linter" });
  const late = says("fail", { title: "Badly named", file: "b.ts", priority: 1 });
  const world = panelWorld({
    ada: `${keep}case $n in 0) ${early}
;; 1) ${late}
;; *) ${says("pass")}
;; esac`,
    bob: `${keep}case $n in 0) echo "I am not sure" ;; *) ${says("pass")}
;; esac`,
  });
  const { per_issue_review } = JSON.parse(world.read("ratchet.yaml"));
  world.configure({
    ...world.settings,
    per_issue_review,
    commands: { check: "true", slow: "exit 5" },
    validation_triggers: { session_end: { commands: ["slow"], code_review: { enabled: true } } },
  });
  await world.add("fix-it");
  expect((await world.ratchet("run")).code).toBe(0);
  const told = (name: string) => {
    const text = readFileSync(`${world.root}/told-${name}`, "utf8").split("## Your earlier findings")[1] ?? "";
    return [...text.matchAll(/^#### \d+\. (.*)$/gm)].map(([, title]) => title);
  };
  const all = (name: string) => [0, 1, 2, 3].map((n) => told(`${name}-${n}`));
  expect(all("ada")).toEqual([[], [], ["[P1] Wrong to ada"], ["[P1] Badly named"]]);
  expect([...all("bob"), told("bob-4")]).toEqual([[], [], [], [], []]);
});

const fence = "```";
const found = '{"file": "a.ts", "line_start": 3, "line_end": 4, "priority": 1, "title": "Odd", "body": "see"}';
const outputs: Readonly<Record<string, readonly ["pass" | "fail", string]>> = {
  plain: ["pass", '{"verdict": "pass", "findings": []}'],
  "in-prose": [
    "fail",
    `I read it all.\n\nHere is [my] verdict: {"verdict": "fail", "findings": [${found}]} - that is all {really}.`,
  ],
  fenced: ["fail", `${fence}json\n{"verdict": "fail", "findings": [${found}]}\n${fence}\nDone.`],
  "nested-fences": [
    "fail",
    `${fence}json\n{"verdict": "fail", "findings": [{"file": "a.ts", "priority": 0, "title": "Fences", "body": "use\\n${fence}ts\\nx[0] = {a: \\"}\\"}\\n${fence}\\ninstead"}]}\n${fence}`,
  ],
  "example-first": [
    "pass",
    `The format is {"verdict": "fail", "findings": [${found}]}.\nMy answer:\n{"verdict": "pass", "findings": []}`,
  ],
  "last-wins": [
    "fail",
    `{"verdict": "pass", "findings": []}\nOn second thoughts:\n{"verdict": "fail", "findings": [${found}]}`,
  ],
  brackets: [
    "fail",
    `{"verdict": "fail", "findings": [{"file": "a.ts", "priority": 1, "title": "a[i]] and }}", "body": "]}{["}]}`,
  ],
  pretty: ["pass", JSON.stringify({ verdict: "PASS", findings: [] }, null, 2)],
};

test("a verdict is found whatever stands around it, fences, prose and brackets included; the last one wins", async () => {
  const world = resumeWorld({ max_retries: 1 });
  for (const [id, [, text]] of Object.entries(outputs)) {
    await world.add(id);
    world.reviewerDoes(id, `cat <<'OUTPUT'\n${text}\nOUTPUT`);
  }
  await world.add("by-file");
  world.reviewerDoes(
    "by-file",
    `echo '{"verdict": "fail", "findings": [${found}]}' >"$RATCHET_RESULT_FILE"; ${says("pass")}`,
  );
  const run = await world.ratchet("run", "--json");
  expect(run.code).toBe(1);
  const { issues } = await world.record();
  for (const [id, [verdict]] of [...Object.entries(outputs), ["by-file", ["fail"]] as const]) {
    expect(issues[id]?.status, id).toBe(verdict === "pass" ? "success" : "failed");
    expect(issues[id]?.error ?? null, id).toBe(verdict === "pass" ? null : "review_failed");
  }
  expect(issues["nested-fences"]?.last_review_issues?.[0]?.body).toBe(
    `use\n${fence}ts\nx[0] = {a: "}"}\n${fence}\ninstead`,
  );
});
