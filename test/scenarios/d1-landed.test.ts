import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, sandbox } from "./sandbox.js";

const agent = `
cat >/dev/null
echo done >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
`;

/** In the place of git: kills whoever has put the n-th commit on the line, while the user's branch is about to follow. */
const killer = (n: number, git: string) => `#!/bin/sh
case " $* " in
  *" --ff-only "*)
    echo follows >>"$HOME/follows"
    if [ "$(wc -l <"$HOME/follows")" -eq ${n} ]; then kill -KILL "$(cat "$HOME/pid")"; exit 1; fi ;;
esac
exec ${git} "$@"
`;

function withKiller(box: Sandbox, n: number): NodeJS.ProcessEnv {
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const program = box.put("bin/git", killer(n, git));
  chmodSync(program, 0o755);
  return { PATH: `${join(box.root, "bin")}:${box.env.PATH}` };
}

test.each([
  ["as it is", 1, 0],
  ["by a merge", 2, 1],
])(
  "D1 killed when its work has landed %s, before that is recorded, an issue has landed once",
  async (_how, n, merges) => {
    const box = sandbox();
    box.configure({ agent: { type: "command", command: box.script("agent.sh", agent) }, max_agents: 2 });
    for (const id of ["a", "b"]) await box.add(id);
    const run = box.start(["run"], { env: withKiller(box, n) });
    writeFileSync(join(box.root, "pid"), String(run.pid));
    expect((await run.ended).code).toBeNull();
    const landed = box.git("rev-parse", "refs/ratchet/landed/main");
    const last = await box.ratchet("run");
    expect(last.code, last.stderr).toBe(0);
    const issues = Object.values((await box.record()).issues);
    expect(issues.map(({ status }) => status)).toEqual(["success", "success"]);
    expect(box.git("log", "--format=%s", "--no-merges", "main").split("\n").sort()).toEqual([
      "The beginning",
      "Work on a",
      "Work on b",
    ]);
    expect(box.git("rev-list", "--count", "--merges", "main")).toBe("1");
    // What the killed one had landed is what the record of its issue says.
    if (merges > 0) expect(issues.map(({ commit }) => commit)).toContain(landed);
    expect(box.git("merge-base", "--is-ancestor", landed, "main")).toBe("");
  },
);
