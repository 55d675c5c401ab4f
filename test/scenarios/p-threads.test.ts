import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { expect, test } from "vitest";
import { opened, type PrWorld, promptOf, rework } from "./pr-world.js";
import { until } from "./sandbox.js";

/** As another program, or a person with an editor, might leave it. */
function changePayload(world: PrWorld, id: string, patch: object): void {
  const database = new DatabaseSync(join(world.home, "ratchet.db"));
  database
    .prepare("UPDATE work_items SET payload = json_patch(payload, ?) WHERE id = ?")
    .run(JSON.stringify(patch), id);
  database.close();
}

test("P3 P5 P11 P12 a reply in an old thread comes with what was said before; who shares our account is heard", async () => {
  const world = await opened({ pull_requests: { trusted: ["MEMBER", "ratchet-bot"] } });
  const { server, jo } = world;
  changePayload(world, "shop-1", { max_rework_cycles: "many" });
  const first = await jo.send("POST", "/pulls/1/comments", {
    path: "work.txt",
    side: "RIGHT",
    line: 2,
    body: "Say two twice.",
  });
  await world.sync();
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect((await world.events()).filter(({ text }) => String(text).includes("max_rework_cycles"))).toMatchObject([
    { level: "warning", text: 'max_rework_cycles: "many" cannot be used and is ignored' },
    { level: "info", text: "no max_rework_cycles is set: 2 is used" },
  ]);

  const reply = (who: typeof jo, body: string) =>
    who.send("POST", "/pulls/1/comments", { in_reply_to: first.id, body });
  const eve = server.person("eve", "NONE");
  await reply(eve, "From a stranger.");
  await reply(jo, "Not quite.");
  const answer = (await world.threads(1)).find(({ body }) => body.startsWith("Addressed in"));
  const quoted = `${answer?.body}`.replace(/^/gm, "> ");
  await server
    .person("ratchet-bot", "NONE")
    .send("POST", "/issues/1/comments", { body: `${quoted}\n\nBy the person behind the bot.` });
  const { head } = await jo.send("GET", "/pulls/1");
  const { sha } = head as { readonly sha: string };
  const output = { title: "Too slow", summary: "It took 3 s." };
  await server
    .person("github-actions[bot]")
    .send("POST", "/check-runs", { name: "speed", head_sha: sha, conclusion: "failure", output });
  await world.sync();
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  const prompt = promptOf(world, 2);
  expect(prompt).toMatch(
    /### work\.txt:2\n\nEarlier in this thread, for context only:\n\n> > Say two twice\.\n> — @jo\n\n> > Addressed in [0-9a-f]{40}\.\n> — @ratchet-bot\n\nWhat is asked now:\n\n> Not quite\.\n— @jo/,
  );
  expect(prompt).not.toContain("From a stranger.");
  expect(prompt).toContain("By the person behind the bot.");
  expect([prompt.split("Too slow").length, prompt.split("It took 3 s.").length]).toEqual([2, 2]);
  await world.sync();
  expect((await world.items()).filter(({ source }) => source === "rework")).toHaveLength(2);

  // A comment and an inline remark of the same number: whoever means one says which.
  const { id } = await eve.send("POST", "/issues/1/comments", { body: "Two of a number." });
  const [inline] = server.state.repo.inline.filter(({ body }) => body === "From a stranger.");
  if (inline) Object.assign(inline, { id: Number(id) });
  await world.sync();
  expect(await world.ratchet("pr", "admit", String(id))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      new RegExp(
        `ratchet pr admit inline:${id}[\\s\\S]*ratchet pr admit comment:${id}|ratchet pr admit comment:${id}[\\s\\S]*ratchet pr admit inline:${id}`,
      ),
    ),
  });
  expect(await world.ratchet("pr", "admit", `comment:${id}`)).toMatchObject({ code: 0 });
});

test("P8 closed and opened again it is followed again: the issue waits in it, and what is said then is worked on", async () => {
  const world = await opened();
  await world.reject(1, "Not yet.");
  await world.sync();
  await world.jo.send("PATCH", "/pulls/1", { state: "closed" });
  await world.sync();
  expect(await world.status("shop-1")).toBe("failed");
  expect(await world.item(rework(1))).toMatchObject({ status: "completed" });
  await world.jo.send("PATCH", "/pulls/1", { state: "open" });
  await world.sync();
  expect(await world.item("shop-1")).toMatchObject({ status: "waiting_for_response" });
  expect((await world.events()).map(({ text }) => text)).toContain("pull request #1 was opened again");
  expect((await world.items()).map(({ id }) => id)).toContain("review-shop-pr-1-cycle-1-reopened-1");
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect(promptOf(world, 2)).toContain("Not yet.");
  await world.sync();
  expect((await world.comments(1)).filter(({ body }) => body.includes("Rework cycle 2, addressed in"))).toHaveLength(1);
  const head = world.remoteGit("rev-parse", "ratchet/shop-1");
  expect(world.remoteGit("show", `${head}:work.txt`)).toContain(`again ${rework(2)}`);
  await world.jo.send("PUT", "/pulls/1/merge", {});
  await world.sync();
  expect((await world.items()).filter(({ status }) => status !== "completed")).toEqual([]);
});

test("P9 P12 an answer that waits for a rate limit holds up nobody who wants to go, and is posted once later", async () => {
  const world = await opened();
  await world.reject(1, "Not yet.", [{ line: 2, body: "Say two twice." }]);
  await world.sync();
  const route = "POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies";
  world.server.faults.add({ route, kind: "secondary-limit", ms: 120_000 });
  const run = world.start(["run"]);
  await until("it waits", () => run.stderr().includes("makes us wait"));
  const from = Date.now();
  run.kill("SIGINT");
  await run.ended;
  expect(Date.now() - from).toBeLessThan(20_000);
  expect((await world.threads(1)).filter(({ in_reply_to_id }) => in_reply_to_id)).toEqual([]);
  await world.sync();
  await world.sync();
  expect((await world.threads(1)).filter(({ in_reply_to_id }) => in_reply_to_id)).toHaveLength(1);
  expect(await world.item(rework(1))).toMatchObject({ status: "completed" });
});
