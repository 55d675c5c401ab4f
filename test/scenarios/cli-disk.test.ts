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

/** Runs a line of shell with `ratchet` in it. */
function shell({ dir, env }: Sandbox, script: string) {
  const ratchet = `ratchet() { ${process.execPath} ${program} "$@"; }`;
  const { status, stdout, stderr } = spawnSync("sh", ["-c", `${ratchet}\n${script}`], {
    cwd: dir,
    env,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

const unwritten = "ratchet: the output could not be written: no space left on device\n";

test("output that cannot be written is one sentence and exit 1", async () => {
  const box = sandbox();
  await box.add("one");
  for (const command of [
    "export",
    "status",
    "work list --json",
    "config schema",
    "--help",
    "--version",
    "explain one",
  ]) {
    expect([command, shell(box, `ratchet ${command} > /dev/full`)]).toEqual([
      command,
      { code: 1, stdout: "", stderr: unwritten },
    ]);
  }
  // An exit code that says something already stays, and a remark on stderr is no result.
  expect(shell(box, "ratchet explain nothing --json > /dev/full").stderr).toBe(unwritten);
  expect(shell(box, "ratchet config check --nope > /dev/full 2>&1").code).toBe(2);
  expect(shell(box, "ratchet work list 2> /dev/full").code).toBe(0);
});

test("whoever stops reading is no failure", async () => {
  const box = sandbox();
  await box.add("one");
  const script = "{ ratchet config schema; echo code $? >&2; } | true";
  expect(shell(box, script).stderr).toBe("code 0\n");
});

test.skipIf(!canMount)("a file that only the beginning of the output has room in is told as well", async () => {
  const box = sandbox();
  await box.add("one", { body: "x".repeat(9000) });
  const script = `mkdir small && mount -t tmpfs -o size=4k none small && ratchet work list --json > small/list; echo code $?; wc -c < small/list`;
  const { lines, stderr } = onSmallDisk(
    box,
    `ratchet work add two --body "$(head -c 9000 /dev/zero | tr '\\0' x)" >&2; ${script}`,
  );
  expect(lines).toEqual(["code 1", "4096"]);
  expect(stderr).toContain(unwritten);
});

test("a run whose output cannot be written goes on, says so once, and ends with exit 1", async () => {
  const box = sandbox();
  const work = "echo y > y && git add -A && git commit -q -m y\n";
  box.configure({ agent: { type: "command", command: box.script("agent", work) } });
  await box.add("one");
  expect(shell(box, "ratchet run > /dev/full")).toEqual({ code: 1, stdout: "", stderr: unwritten });
  expect(box.read("y")).toBe("y\n");
  expect((await box.record()).exit_code).toBe(0);
});
