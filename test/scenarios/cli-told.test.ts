import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasPty, openTerminal } from "./pty.js";
import { sandbox, until } from "./sandbox.js";

const work = 'echo x >> "$RATCHET_ISSUE_ID.txt" && git add -A && git commit -q -m "Did it"\n';

test("files that were where a worktree belongs are kept, told in the log and listed", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  box.put("home/worktrees/shop/one/notes.txt", "somebody's\n");
  const { code, stdout } = await box.ratchet("run");
  expect(code).toBe(0);
  const folder = join(box.home, "worktrees", "shop");
  const [name = ""] = readdirSync(folder).filter((one) => one.startsWith("one.aside-"));
  const path = join(folder, name);
  expect(readFileSync(join(path, "notes.txt"), "utf8")).toBe("somebody's\n");
  expect(stdout).toContain(`one: Files were where its worktree belongs, they are kept in ${path}`);
  expect((await box.ratchet("worktree", "list")).stdout).toContain(
    `one: files that were in its way are kept in ${path}`,
  );
  expect(JSON.parse((await box.ratchet("worktree", "list", "--json")).stdout)).toMatchObject([
    { issue: "one", path: null, aside: [path] },
  ]);
});

test("a finding that two issues have is waived in the one that is named", async () => {
  const box = sandbox();
  box.configure({
    agent: { type: "command", command: box.script("agent", work) },
    commands: { test: "exit 1" },
    evidence_check: { required: ["test"] },
    max_gate_retries: 1,
  });
  for (const id of ["one", "two"]) await box.add(id);
  expect((await box.ratchet("run")).code).toBe(1);
  const open = async (): Promise<{ id: string; issue_id: string }[]> =>
    JSON.parse((await box.ratchet("findings", "--json")).stdout);
  const [first, second] = await open();
  expect(first?.id).toBe(second?.id);
  const waive = (...more: string[]) => box.ratchet("findings", "waive", first?.id ?? "", "--reason", "known", ...more);
  const unclear = await waive();
  expect([unclear.code, unclear.stderr]).toEqual([1, expect.stringMatching(/is open in (one, two|two, one)/)]);
  expect(unclear.stderr).toContain("--issue");
  expect((await waive("--issue", "two")).stdout).toBe(`${first?.id} of two is waived\n`);
  expect((await open()).map(({ issue_id }) => issue_id)).toEqual(["one"]);
  expect((await waive()).code).toBe(0);
});

test.skipIf(!hasPty)(
  "a transcript has no power over the terminal it is shown in, unless it is wanted raw",
  async () => {
    const box = sandbox();
    const noisy = `printf 'ready\\007 \\033[2Jset\\n'\n${work}`;
    box.configure({ agent: { type: "command", command: box.script("agent", noisy) } });
    await box.add("one");
    expect((await box.ratchet("run")).code).toBe(0);
    const shown = async (...more: string[]) => {
      const terminal = openTerminal(box, ["logs", "transcript", "last", "one", ...more]);
      await until("it has ended", async () => (await terminal.ended) === 0);
      return terminal.screen();
    };
    expect(await shown()).toContain("ready\u2407 set");
    expect(await shown("--raw")).toContain("ready\u0007 ");
    expect((await box.ratchet("logs", "transcript", "last", "one")).stdout).toContain("ready\u2407 set");
  },
);

test.runIf(hasPty)("a terminal that does not know its size is shown the run all the same", async () => {
  const box = sandbox();
  const agent = `while [ ! -e ${join(box.root, "go")} ]; do sleep 0.05; done\n${work}`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one", { title: "Paint the door" });
  const run = openTerminal(box, ["run"], box.env.PATH);
  await run.see("Paint the door");
  const watch = openTerminal(box, ["status", "--watch"], box.env.PATH);
  await watch.see("implementing");
  box.put("go", "");
  expect(await run.ended).toBe(0);
});

test("a run that completes an epic, and does what waited for it, does not say that nothing is ready", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("e", { more: ["--type", "epic"] });
  await box.add("child", { more: ["--parent", "e"] });
  await box.add("after", { more: ["--dep", "e"] });
  await box.quick("work", "complete", "child");
  const said = "nothing but epic e is ready: 1 not ready yet (ratchet explain <id>)\n";
  expect(await box.ratchet("run")).toMatchObject({ code: 0, stderr: said });
  expect([await box.status("e"), await box.status("after")]).toEqual(["completed", "completed"]);
});
