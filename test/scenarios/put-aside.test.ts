import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { deadlyGit } from "./deadly-git.js";
import { type Sandbox, sandbox } from "./sandbox.js";

const pathOf = (box: Sandbox) => join(box.home, "worktrees", "shop", "one");
const inMirror = (box: Sandbox, ...args: string[]) =>
  box.git("--git-dir", join(box.home, "repos", "shop.git"), ...args);

/** A failed issue with a commit, and with a file that is not committed; the agent's next turn tells what it sees. */
async function failed(): Promise<Sandbox> {
  const box = sandbox();
  const agent = `ls >"$HOME/seen"; [ -e did.txt ] || { echo x >did.txt; git add -A; git commit -qm Did; }; exit 3\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", agent) } });
  await box.add("one");
  expect((await box.ratchet("run")).code).toBe(1);
  writeFileSync(join(pathOf(box), "loose.txt"), "not committed\n");
  return box;
}

/** All of it: by what it is asked for, and in the next life. */
async function expectWhole(box: Sandbox, when: string): Promise<void> {
  expect([when, await box.quick("diff", "one", "--stat")]).toEqual([when, "did.txt\nloose.txt\n"]);
  // Where it is still there, that is what the next life has.
  if (existsSync(join(pathOf(box), "loose.txt"))) return;
  await box.ratchet("run", "--resume");
  expect([when, readFileSync(join(box.root, "seen"), "utf8")]).toEqual([when, "README.md\ndid.txt\nloose.txt\n"]);
  expect(readFileSync(join(pathOf(box), "loose.txt"), "utf8")).toBe("not committed\n");
}

test.each(["park", "restore"])(
  "killed in the middle of worktree %s, the next life has all of the work",
  async (verb) => {
    const box = await failed();
    const env = deadlyGit(box);
    for (let at = 1; ; at++) {
      if (verb === "restore") await box.quick("worktree", "park", "one");
      // What is brought back takes the place of what is there: that is put aside.
      if (verb === "restore" && at % 2 === 0) await box.quick("worktree", "restore", "one");
      box.put("git-calls", "0\n");
      const { code } = await box.start(["worktree", verb, "one"], { env: { ...env, KILL_AT: String(at) } }).ended;
      await expectWhole(box, `${verb} ${at}`);
      if (code !== null) break;
    }
  },
  300_000,
);

test("what an older version was killed over while it put it aside is whole: its branch has less", async () => {
  const box = await failed();
  const park = async () => {
    const head = inMirror(box, "rev-parse", "ratchet/one");
    const { ref } = JSON.parse(await box.quick("worktree", "park", "one", "--json"));
    inMirror(box, "update-ref", "refs/heads/ratchet/one", head);
    return ref;
  };
  const isBack = async () => {
    await box.quick("worktree", "restore", "one");
    expect(readFileSync(join(pathOf(box), "loose.txt"), "utf8")).toBe("not committed\n");
  };
  await park();
  await expectWhole(box, "older");
  await park();
  await isBack();
  const ref = await park();
  // Nothing poorer is put aside over it.
  expect(JSON.parse(await box.quick("retry", "one", "--afresh", "--json"))).toMatchObject({ parked: [ref] });
  await isBack();
});

test("of those who put the same worktree aside at once one does, and the others find nothing left", async () => {
  const box = await failed();
  const all = [
    ["worktree", "park", "one"],
    ["retry", "one", "--afresh"],
    ["worktree", "clean"],
    ["worktree", "park", "one"],
  ];
  const ended = await Promise.all(all.map((args) => box.ratchet(...args)));
  for (const { code, stderr } of ended) {
    expect([0, 1]).toContain(code);
    expect(stderr).toMatch(/^(ratchet: (one has no worktree|process(es)? [\d, ]+ works? in \S+)\n.*\n)?$/);
  }
  expect(inMirror(box, "for-each-ref", "--format=%(refname)", "refs/ratchet/parked")).toBe("refs/ratchet/parked/one/1");
  await box.quick("worktree", "restore", "one");
  expect(readFileSync(join(pathOf(box), "loose.txt"), "utf8")).toBe("not committed\n");
  expect(box.git("-C", pathOf(box), "status", "--porcelain")).toBe("?? loose.txt");
});
