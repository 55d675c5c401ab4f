import { expect, test } from "vitest";
import { sandbox } from "./sandbox.js";

/** Every turn notes itself; the first of `one` is what `first` makes of it, all others commit. */
async function turnsInOrder(first: string, config: object = {}): Promise<string[]> {
  const box = sandbox();
  const work = `echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"; git add --all; git commit --quiet --message "Work"`;
  const note = `echo "$RATCHET_ISSUE_ID $RATCHET_PROMPT_KIND" >>"$HOME/order"`;
  const agent = `cat >/dev/null; ${note}
    if [ "$RATCHET_ISSUE_ID $RATCHET_PROMPT_KIND" = "one implementer" ]; then ${first}; fi
    ${work}`;
  const review = `cat >/dev/null; echo "$RATCHET_ISSUE_ID review" >>"$HOME/order"; echo '{"verdict": "pass"}'`;
  box.configure({
    agent: { type: "command", command: box.script("agent.sh", agent) },
    max_agents: 1,
    ...(Object.keys(config).length > 0
      ? { per_issue_review: { ...config, reviewer_type: "command", command: box.script("review.sh", review) } }
      : {}),
  });
  for (const id of ["one", "two", "three"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(0);
  return box.read("../order").trim().split("\n");
}

test("a follow-up that is owed when its turn ends goes before a new issue", async () => {
  const order = await turnsInOrder("exit 0");
  expect(order).toEqual(["one implementer", "one gate_followup", "two implementer", "three implementer"]);
});

test("a review that is owed when the turn ends goes before a new issue", async () => {
  const order = await turnsInOrder(":", { enabled: true });
  expect(order).toEqual(["one", "two", "three"].flatMap((id) => [`${id} implementer`, `${id} review`]));
});
