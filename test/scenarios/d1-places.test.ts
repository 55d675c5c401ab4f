import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { PublicEvent } from "../../src/core/report.js";
import { eventsOf, type Sandbox, sandbox, until } from "./sandbox.js";

const waitForGo = 'while ! [ -e "$HOME/go" ]; do sleep 0.05; done';
const agent = `
cat >/dev/null
echo "$RATCHET_ISSUE_ID" >>"$HOME/agents"
${waitForGo}
echo done >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;
/** The first issue waits in its agent, the second before it has one. */
const setup = `
echo "$RATCHET_ISSUE_ID" >>"$HOME/setups"
test "$RATCHET_ISSUE_ID" = a || ${waitForGo}
`;
const linesIn = ({ root }: Sandbox, name: string) =>
  existsSync(join(root, name)) ? readFileSync(join(root, name), "utf8").trim().split("\n") : [];

/** How many issues were begun and had no turn behind them, at most. */
function mostBegun(events: readonly PublicEvent[]): number {
  const begun = new Set<string>();
  let most = 0;
  for (const event of [...events].sort((one, other) => one.seq - other.seq)) {
    if (event.type === "turn-ended") begun.delete(event.issue_id ?? "");
    if (event.type === "issue-started") begun.add(event.issue_id ?? "");
    most = Math.max(most, begun.size);
  }
  return most;
}

test("D1 a run that is killed and taken up again begins no issue while those it had begun need its places", async () => {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    commands: { setup },
    max_agents: 2,
  });
  for (const id of ["a", "b", "c", "d"]) await box.add(id);
  const told: PublicEvent[] = [];
  for (const starts of [1, 2, 3]) {
    const run = box.start(["run", "--json"]);
    await until("a waits in its agent", () => linesIn(box, "agents").length === 1);
    await until("b is at its setup", () => linesIn(box, "setups").filter((id) => id === "b").length === starts);
    run.kill("SIGKILL");
    told.push(...eventsOf(await run.ended));
  }
  const last = box.start(["run", "--json"]);
  await until("b is at its setup again", () => linesIn(box, "setups").filter((id) => id === "b").length === 4);
  expect(linesIn(box, "setups").filter((id) => id !== "b")).toEqual(["a"]);
  box.put("go", "");
  const ended = await last.ended;
  expect(ended.code).toBe(0);
  expect(linesIn(box, "agents").sort()).toEqual(["a", "b", "c", "d"]);
  expect(mostBegun([...told, ...eventsOf(ended)])).toBe(2);
});
