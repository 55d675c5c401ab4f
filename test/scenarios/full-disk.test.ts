import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { program, type Sandbox, sandbox } from "./sandbox.js";

/** A disk of our own that can be filled or made read-only: mounts that end with the process that made them. */
const ownDisk = ["-r", "-m", "sh", "-c"];
const canMount = spawnSync("unshare", [...ownDisk, "mount -t tmpfs -o size=1m none /tmp"]).status === 0;

function onOwnDisk(box: Sandbox, script: string): { stdout: string; stderr: string } {
  const head = `
    mkdir -p ${box.home} && mount -t tmpfs -o size=24m,mode=700 none ${box.home} || exit 99
    ratchet() { ${process.execPath} ${program} "$@"; }
  `;
  const { stdout, stderr } = spawnSync("unshare", [...ownDisk, head + script], {
    cwd: box.dir,
    env: box.env,
    encoding: "utf8",
    timeout: 100_000,
  });
  return { stdout, stderr };
}

/** The first agent fills the disk after its work; later ones do not. */
const agent = (home: string) => `
cat >/dev/null
echo "$RATCHET_ISSUE_ID" >"$RATCHET_ISSUE_ID.txt"
git add --all && git commit --quiet --message "Work on $RATCHET_ISSUE_ID"
[ -e "$HOME/filled" ] && exit 0
: >"$HOME/filled"
dd if=/dev/zero of=${home}/filler bs=4k 2>/dev/null
exit 0
`;

// Without the right to mount there is no disk that could be filled safely.
test.skipIf(!canMount)(
  "D3 a disk that fills up in the middle of a run: never a success that is none, and nothing is lost",
  () => {
    const box = sandbox();
    box.configure({ agent: { type: "command", command: box.script("agent.sh", agent(box.home)) } });
    const { stdout, stderr } = onOwnDisk(
      box,
      `
    ratchet work add One --id one >&2 || exit 98
    ratchet run >&2; echo "full $?"
    git log --format=%s main | tr '\\n' ' '; echo
    rm -f ${box.home}/filler
    ratchet run >&2; echo "again $?"
    ratchet run --resume >&2; echo "resumed $?"
    ratchet work show one --json | grep '"status"'
    git show main:one.txt
  `,
    );
    const [full, log, again, resumed, status, text] = stdout.split("\n");
    expect([full, again, resumed], stderr).toEqual(["full 3", "again 0", "resumed 0"]);
    expect(log).toBe("The beginning ");
    expect(status, stderr).toContain("completed");
    expect(text).toBe("one");
    expect(stderr).toMatch(/disk|space/i);
    expect(stderr).not.toContain("    at ");
  },
);

test.skipIf(!canMount)("a state home that can only be read is one sentence with a hint, and nothing starts", () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: box.script("agent.sh", ': >"$HOME/started"') } });
  const { stdout, stderr } = onOwnDisk(
    box,
    `
    ratchet work add One --id one >&2 || exit 98
    mount -o remount,ro ${box.home} || exit 97
    ratchet run; echo "code $?"
    ratchet work add Two --id two; echo "code $?"
    [ -e "$HOME/started" ] && echo started
    mount -o remount,rw ${box.home}
    ratchet work list --json | grep -c '"id"'
  `,
  );
  expect(stdout.split("\n").slice(0, 3), stderr).toEqual(["code 3", "code 1", "1"]);
  expect(stderr.match(/^ratchet: .*(read-only|cannot be written|cannot be used).*$/gm), stderr).toHaveLength(2);
  expect(stderr.match(/^ {2}hint: /gm)).toHaveLength(2);
  expect(stderr).not.toContain("    at ");
});
