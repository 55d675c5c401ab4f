import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { program, type Sandbox, sandbox } from "./sandbox.js";

/** A disk of our own that can be filled: a mount that ends with the process that made it. */
const ownDisk = ["-r", "-m", "sh", "-c"];
const canMount = spawnSync("unshare", [...ownDisk, "mount -t tmpfs -o size=1m none /tmp"]).status === 0;

/** Runs a script with `ratchet` in it, the state home on a small disk of its own. */
function onSmallDisk({ dir, env, home }: Sandbox, script: string) {
  const before = `
    mkdir -p ${home} && mount -t tmpfs -o size=3m none ${home} || exit 99
    home=${home}
    ratchet() { ${process.execPath} ${program} "$@"; }
  `;
  const { stdout, stderr } = spawnSync("unshare", [...ownDisk, before + script], { cwd: dir, env, encoding: "utf8" });
  expect(stderr).not.toContain("    at ");
  return { lines: stdout.trimEnd().split("\n"), stderr };
}

const fill = (home: string) => `dd if=/dev/zero of=${home}/filler bs=4k 2>/dev/null`;

test.skipIf(!canMount)("D3 a full disk is one sentence, and what was there before stays", () => {
  const box = sandbox();
  const { lines, stderr } = onSmallDisk(
    box,
    `ratchet work add kept --id kept
    ${fill("$home")}
    ratchet work add lost --id lost --body "$(head -c 100000 /dev/zero | tr '\\0' x)" >&2; echo "code $?"
    rm $home/filler
    ratchet work list --json`,
  );
  // Depending on which file could not grow, SQLite says full or failed.
  expect(stderr).toMatch(/^ratchet: the disk (is full|failed)/m);
  expect(stderr).toMatch(/hint: .*free (some )?space/);
  const [first, code, ...json] = lines;
  expect([first, code]).toEqual(["kept", "code 1"]);
  expect(JSON.parse(json.join("\n"))).toMatchObject([{ id: "kept" }]);
});

test.skipIf(!canMount)("D3 a disk that fills up during a run ends it with exit 3, and the next start goes on", () => {
  const box = sandbox();
  const work = `[ -e ${box.root}/filled ] || { touch ${box.root}/filled; ${fill(box.home)}; }
    echo y > y && git add -A && git commit -q -m y\n`;
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  const { lines, stderr } = onSmallDisk(
    box,
    `ratchet work add one --id one
    ratchet run; echo "code $?"
    rm $home/filler
    ratchet run; echo "code $?"`,
  );
  expect(stderr).toMatch(/^ratchet: the disk is full/m);
  expect(lines.filter((line) => line.startsWith("code "))).toEqual(["code 3", "code 0"]);
  expect(lines.some((line) => line.startsWith("Continuing run "))).toBe(true);
  expect(box.read("y")).toBe("y\n");
});

test.skipIf(!canMount)("a state home that has become read-only is told by every command", () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: ["true"] } });
  const { lines, stderr } = onSmallDisk(
    box,
    `ratchet work add one --id one
    mount -o remount,ro $home
    ratchet work add two; echo "code $?"
    ratchet run; echo "code $?"`,
  );
  expect(lines).toEqual(["one", "code 1", "code 3"]);
  expect(stderr.match(/^ratchet: the state home .* is read-only$/gm)).toHaveLength(2);
  expect(stderr).toContain("hint: make it writable, or set RATCHET_HOME");
});
