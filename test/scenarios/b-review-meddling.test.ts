import { expect, test } from "vitest";
import { resumeWorld, says } from "./resume-world.js";
import { type Ended, eventsOf } from "./sandbox.js";

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

test("D4: members that wait for a place are not disturbed by what was changed before they began", async () => {
  const world = panelWorld({ ada: judges, mal: `echo spoilt >>README.md; ${says("pass")}` }, 1);
  await world.add("fix-it");
  const run = await world.ratchet("run", "--json");
  expect(verdicts(run)).toEqual(["ada pass", "mal protocol", "mal protocol", "mal protocol"]);
});
