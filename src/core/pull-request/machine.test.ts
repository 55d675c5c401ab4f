import { describe, expect, test } from "vitest";
import { openFindings } from "../ledger/ledger.js";
import { check, PrWorld, remark, review, rework } from "./fixture.js";

const statusOf = (world: PrWorld, id: string) => world.life.state.deliveries[id]?.status;

describe("a cycle", () => {
  test("P1 changes requested: one rework item, with everything that is open, and the review item ends by it", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1"), remark("inline:2"), remark("inline:3", { thread: "2" }), remark("comment:4")];
    world.look();
    expect(world.all("cycle")).toMatchObject([
      {
        cycle: 1,
        source: "rework",
        predecessor: review(0).id,
        parts: ["review:1", "inline:2", "inline:3", "comment:4"],
      },
    ]);
    expect(openFindings(world.life.ledger).map(({ stage, source }) => [stage, source])).toEqual(
      Array(4).fill(["pr", "pr-comment"]),
    );
  });

  test("P2 P9 asking again, polls and webhooks while it is available, claimed or failed change nothing", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1")];
    world.look().look().signal({ name: "rework", cycle: null, feedback: null }).look();
    for (const status of ["claimed", "failed"] as const) world.set(rework(1).id, { status }).look();
    world.signal({ name: "rework", cycle: 1, feedback: "again" }).look();
    expect(world.all("cycle")).toHaveLength(1);
  });

  test("P12 what is said meanwhile waits for the next cycle; each is answered once, with its commit", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1"), remark("inline:2")];
    world.look().set(rework(1).id, { status: "claimed" });
    world.remarks.push(remark("inline:9"), remark("inline:10", { thread: "2" }));
    world.look();
    expect(statusOf(world, "inline:9")).toBe("waiting");
    world.push(1, "ccc").look().look();
    expect(world.all("post")).toMatchObject([
      { op: "reply", thread: "2", cycle: 1, commit: "ccc" },
      { op: "summary", cycle: 1, commit: "ccc", parts: ["review:1"] },
    ]);
    expect(world.all("cycle")).toMatchObject([{ cycle: 1 }, { cycle: 2, parts: ["inline:9", "inline:10"] }]);
    expect(openFindings(world.life.ledger)).toHaveLength(2);
    world.push(2, "ddd").look().look();
    expect(world.all("post").map((one) => one.op)).toEqual(["reply", "summary", "reply", "reply"]);
    expect(openFindings(world.life.ledger)).toEqual([]);
  });

  test("our own posts, approvals, empty reviews and what was dismissed are no feedback", () => {
    const world = new PrWorld();
    world.remarks = [
      remark("comment:1", { own: true }),
      remark("review:2", { verdict: "approved" }),
      remark("review:3", { verdict: "commented", body: { text: " " } }),
      remark("review:4", { verdict: "dismissed" }),
    ];
    world.look();
    expect(world.all("cycle")).toEqual([]);
  });

  test("without rework_on_comment a comment alone starts nothing, and goes along with the next request", () => {
    const world = new PrWorld({ rework_on_comment: false });
    world.remarks = [remark("comment:1"), remark("inline:2")];
    world.look();
    expect(world.all("cycle")).toEqual([]);
    world.remarks.push(remark("review:3"));
    world.look();
    expect(world.all("cycle")).toMatchObject([{ parts: ["comment:1", "inline:2", "review:3"] }]);
  });

  test("a bot's repeated words are one remark, also after they were answered; a person may say it twice", () => {
    const world = new PrWorld();
    const bot = { login: "lint[bot]", association: "NONE", digest: "same" };
    world.remarks = [remark("comment:1", bot), remark("comment:2", bot)];
    world.look();
    expect([statusOf(world, "comment:1"), statusOf(world, "comment:2")]).toEqual(["untrusted", "untrusted"]);
    const trusting = new PrWorld({ trusted: ["Lint[bot]", "MEMBER"] });
    trusting.remarks = [remark("comment:1", bot), remark("comment:2", bot), remark("comment:3", { digest: "mine" })];
    trusting.look().push(1, "ccc").look();
    trusting.remarks.push(remark("comment:4", bot), remark("comment:5", { digest: "mine" }));
    trusting.look();
    expect(trusting.all("cycle").map(({ parts }) => parts)).toEqual([["comment:1", "comment:3"], ["comment:5"]]);
  });

  test("failing checks wait until none is pending, then go in one cycle, once per commit", () => {
    const world = new PrWorld();
    world.checks = [check("lint", "failure"), check("test", "pending")];
    expect(world.look().all("cycle")).toEqual([]);
    world.checks = [check("lint", "failure"), check("test", "failure")];
    world.look().look();
    expect(world.all("cycle")).toMatchObject([{ parts: ["check:lint@aaa", "check:test@aaa"] }]);
    world.push(1, "ccc");
    world.checks = [check("lint", "failure", "ccc"), check("test", "success", "ccc")];
    world.look();
    expect(world.all("cycle")[1]).toMatchObject({ cycle: 2, parts: ["check:lint@ccc"] });
  });

  test("a conflict with the base alone is a merge_fix; what is gone by itself starts nothing", () => {
    const world = new PrWorld();
    world.pullRequest = { ...world.pullRequest, mergeable: false };
    expect(world.look().all("cycle")).toMatchObject([{ source: "merge_fix", parts: ["conflict@aaa"] }]);
  });

  test("P4 what could not be fetched is told, and the cycle is made with the rest", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1")];
    world.failed = [{ part: "inline", result: "timeout", reason: "30 s" }];
    world.look();
    expect(world.all("note")[0]).toMatchObject({ note: { type: "comments_fetch", result: "timeout", part: "inline" } });
    expect(world.all("cycle")).toHaveLength(1);
  });
});

test("a person's words are this cycle's when they are said again, and the next one's when they are others", () => {
  const world = new PrWorld();
  world.signal({ name: "rework", cycle: null, feedback: "Be kind." }).look().set(rework(1).id, { status: "claimed" });
  world.signal({ name: "rework", cycle: null, feedback: "Be kind." }).look().push(1, "ccc").look();
  expect(world.all("cycle")).toMatchObject([{ cycle: 1, feedback: "Be kind." }]);
  world.signal({ name: "rework", cycle: null, feedback: "Kinder." }).look().set(rework(2).id, { status: "claimed" });
  world.signal({ name: "rework", cycle: null, feedback: "Briefer." });
  world.signal({ name: "rework", cycle: 2, feedback: "Now." }).look();
  expect(world.all("cycle")).toHaveLength(2);
  world.limit = { max: 9, from: "project", ignored: null };
  world.push(2, "ddd").look();
  expect(world.all("cycle")[2]).toMatchObject({ cycle: 3, feedback: "Briefer.\n\nNow." });
});

describe("escalation", () => {
  test.each([
    [0, []],
    [1, [1]],
    [2, [1, 2]],
  ])("P5 with at most %j cycles it makes %j, then asks a person once", (max, cycles) => {
    const world = new PrWorld();
    world.limit = { max, from: "project", ignored: null };
    for (let cycle = 1; cycle <= max + 2; cycle += 1) {
      world.remarks.push(remark(`review:${cycle}`));
      world.look();
      if (cycles.includes(cycle)) world.push(cycle, `c${cycle}`).look();
    }
    world.look();
    expect(world.all("cycle").map(({ cycle }) => cycle)).toEqual(cycles);
    expect(world.all("escalate")).toMatchObject([{ reason: `Max rework cycles (${max}) exceeded`, maxCycles: max }]);
    world.escalated = false;
    world.look();
    expect(world.all("cycle").length).toBe(cycles.length + (max === 0 ? 0 : 1));
  });

  test("P5 the default is told once, and a value that cannot be used", () => {
    const world = new PrWorld();
    world.limit = { max: 2, from: "default", ignored: "max_rework_cycles: -1 is ignored" };
    world.remarks = [remark("review:1")];
    world.look().push(1, "ccc");
    world.remarks.push(remark("review:2"));
    world.look();
    expect(world.all("note").map(({ note }) => note.type === "log" && note.level)).toEqual(["warn", "info"]);
  });

  test("P8 a rework that changed nothing is for a person, and is not answered as fixed", () => {
    const world = new PrWorld();
    world.remarks = [remark("inline:1")];
    world.look().set(rework(1).id, { status: "waiting_for_response", reason: "the agent changed nothing" }).look();
    expect(world.all("escalate")).toHaveLength(1);
    expect(world.all("post").map(({ op }) => op)).toEqual(["escalation"]);
  });
});

describe("trust", () => {
  test("P11 an untrusted author's remark is listed, and delivered once a person lets it through", () => {
    const world = new PrWorld();
    world.remarks = [remark("comment:1", { association: "NONE", login: "eve" })];
    world.look();
    expect(statusOf(world, "comment:1")).toBe("untrusted");
    expect(world.all("cycle")).toEqual([]);
    world.signal({ name: "admit", id: "1" }).look();
    expect(world.all("cycle")).toMatchObject([{ parts: ["comment:1"] }]);
  });

  test("an untrusted approval merges nothing, nor does a trusted one for a stranger's pull request", () => {
    const world = new PrWorld({ merge: "squash" });
    world.remarks = [remark("review:1", { verdict: "approved", association: "NONE" })];
    expect(world.look().all("merge")).toEqual([]);
    world.remarks = [remark("review:2", { verdict: "approved" })];
    world.pullRequest = { ...world.pullRequest, own: false, author: "eve" };
    expect(world.look().all("merge")).toEqual([]);
  });
});

describe("the end", () => {
  test("approved and green on this head, it is merged once, and nothing is owed any more", () => {
    const world = new PrWorld({ merge: "squash" });
    world.remarks = [remark("review:1", { verdict: "approved" })];
    world.checks = [check("test", "pending")];
    expect(world.look().all("merge")).toEqual([]);
    world.checks = [check("test", "success")];
    world.look();
    expect(world.all("merge")).toMatchObject([{ method: "squash", head: "aaa" }]);
    expect(world.all("finish")).toMatchObject([{ how: "merged", commit: "mmm" }]);
    expect([...world.owed.keys()]).toEqual([]);
  });

  test.each([
    ["an approval of an older commit", [remark("review:1", { verdict: "approved", commit: "old" })]],
    ["a later request for changes", [remark("review:1", { verdict: "approved" }), remark("review:2")]],
  ])("%s does not merge", (_, remarks) => {
    const world = new PrWorld({ merge: "merge", max_rework_cycles: 0 });
    world.remarks = remarks;
    expect(world.look().all("merge")).toEqual([]);
  });

  test("P8 merged or closed by somebody, no item is made for what was said before", () => {
    const world = new PrWorld();
    world.remarks = [remark("review:1")];
    world.pullRequest = { ...world.pullRequest, state: "closed" };
    world.look();
    expect(world.all("cycle")).toEqual([]);
    expect(world.all("finish")).toMatchObject([{ how: "closed" }]);
    expect([...world.owed.values()].filter(({ kind }) => kind !== "wait" && kind !== "timer")).toEqual([]);
  });
});

describe("our reviewer", () => {
  const finding = {
    file: "src/a.ts",
    line_start: 1,
    line_end: 1,
    priority: 1,
    title: "Wrong",
    body: { text: "because" },
    reviewer: "security",
    blocks: true,
  };
  test("P10 its verdict counts from the board, is posted once, and starts a cycle", () => {
    const world = new PrWorld({ review: { enabled: true }, merge: "squash" });
    world.set(review(0).id, { status: "completed", commit: "aaa", verdict: { verdict: "fail", findings: [finding] } });
    world.look().look();
    expect(world.all("post")).toMatchObject([{ op: "review", verdict: "fail", item: review(0).id }]);
    expect(world.all("cycle")).toMatchObject([{ cycle: 1, parts: [`own:${review(0).id}:0`] }]);
    world.push(1, "ccc");
    world.set(review(1).id, { status: "completed", commit: "ccc", verdict: { verdict: "pass", findings: [] } });
    world.look();
    expect(world.all("merge")).toEqual([]);
    world.now += 60_000;
    world.look();
    expect(world.all("merge")).toMatchObject([{ head: "ccc" }]);
  });
});

test("P10 without a verdict of our reviewer a person is asked, once", () => {
  const world = new PrWorld({ review: { enabled: true } });
  world.set(review(0).id, { status: "waiting_for_response", reason: "review_unavailable: no verdict" });
  world.look().look();
  expect(world.all("escalate")).toHaveLength(1);
  world.escalated = false;
  world.look();
  expect(world.all("escalate")).toHaveLength(1);
});

test("a task that breaks is tried again with the next look, and looks that fail come less and less often", () => {
  const world = new PrWorld();
  world.remarks = [remark("review:1")];
  const look = world.find("look");
  if (look) world.send(world.looked(look.key));
  const cycle = world.find("cycle");
  if (cycle) world.send({ type: "crashed", key: cycle.key, effect: "cycle", message: "locked" });
  expect(world.find("cycle")).toBeUndefined();
  world.look();
  expect(world.all("cycle")).toMatchObject([{ cycle: 1, parts: ["review:1"] }]);
  const delays = [1, 2, 3, 4, 5].map(() => {
    world.signal({ name: "look" });
    const again = world.find("look");
    if (again) world.send({ type: "look-failed", key: again.key, reason: "502" });
    return ((world.find("timer")?.until ?? 0) - world.now) / 1000;
  });
  expect(delays).toEqual([5, 30, 120, 600, 600]);
});

describe("what changes before anybody acted on it", () => {
  test("P11 words that are changed after a person let them through wait for a person again", () => {
    const world = new PrWorld();
    const stranger = remark("comment:1", { association: "NONE", login: "eve", digest: "kind" });
    world.remarks = [stranger];
    world.look();
    world.remarks = [{ ...stranger, digest: "unkind" }];
    world.signal({ name: "admit", id: "1" }).look();
    expect([statusOf(world, "comment:1"), world.all("cycle")]).toEqual(["untrusted", []]);
    expect(openFindings(world.life.ledger)).toEqual([]);
    world.signal({ name: "admit", id: "1" }).look();
    expect(world.all("cycle")).toMatchObject([{ parts: ["comment:1"] }]);
  });

  test("what is deleted or dismissed while it waits is gone from the ledger too", () => {
    const world = new PrWorld({ rework_on_comment: false });
    world.remarks = [remark("comment:1"), remark("inline:2")];
    world.look();
    world.failed = [{ part: "inline", result: "error", reason: "502" }];
    world.remarks = [];
    world.look();
    expect([statusOf(world, "comment:1"), statusOf(world, "inline:2")]).toEqual(["void", "waiting"]);
    expect(openFindings(world.life.ledger)).toHaveLength(1);
  });

  test("P4 what waits and could not be fetched this time does not go along without its words", () => {
    const world = new PrWorld({ rework_on_comment: false });
    world.remarks = [remark("inline:1")];
    world.look();
    world.remarks = [remark("review:2")];
    world.failed = [{ part: "inline", result: "timeout", reason: "30 s" }];
    expect(world.look().all("cycle")).toMatchObject([{ parts: ["review:2"] }]);
    expect(statusOf(world, "inline:1")).toBe("waiting");
  });

  test("a check that is run again and fails again is told, and one that could not be asked for is not forgotten", () => {
    const world = new PrWorld({ max_rework_cycles: 5 });
    world.checks = [check("lint", "failure"), check("test", "pending")];
    world.look();
    world.checks = [];
    world.failed = [{ part: "checks", result: "error", reason: "502" }];
    world.look();
    expect(statusOf(world, "check:lint@aaa")).toBe("waiting");
    world.failed = [];
    world.checks = [check("lint", "pending"), check("test", "success")];
    world.look();
    expect(statusOf(world, "check:lint@aaa")).toBe("void");
    world.checks = [check("lint", "failure"), check("test", "success")];
    expect(world.look().all("cycle")).toMatchObject([{ parts: ["check:lint@aaa"] }]);
  });
});

test("P8 what a rework that came to nothing was to answer goes along with the next, once a person has decided", () => {
  const world = new PrWorld();
  world.remarks = [remark("inline:1")];
  world.look().set(rework(1).id, { status: "waiting_for_response", reason: "nothing changed" }).look();
  world.remarks.push(remark("review:2"));
  expect(world.look().all("cycle")).toHaveLength(1);
  world.escalated = false;
  world.look();
  expect(world.all("cycle")[1]).toMatchObject({ cycle: 2, predecessor: rework(1).id, parts: ["inline:1", "review:2"] });
  world.push(2, "ccc").look();
  expect([statusOf(world, "inline:1"), statusOf(world, "review:2")]).toEqual(["answered", "answered"]);
});

test("a merge that was refused is tried again when more speaks for it", () => {
  const world = new PrWorld({ merge: "squash" });
  world.remarks = [remark("review:1", { verdict: "approved" })];
  const look = world.find("look");
  if (look) world.send(world.looked(look.key));
  const merge = world.find("merge");
  if (merge) world.send({ type: "merge-ended", key: merge.key, outcome: { type: "refused", reason: "two approvals" } });
  expect(world.look().find("merge")).toBeUndefined();
  world.remarks.push(remark("review:2", { verdict: "approved", login: "bob" }));
  world.look();
  expect(world.all("merge")).toHaveLength(1);
});
