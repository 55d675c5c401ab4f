import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { program, sandbox } from "./sandbox.js";

/** A disk of our own that can be filled: a mount that ends with the process that made it. */
const ownDisk = ["-r", "-m", "sh", "-c"];
const canMount = spawnSync("unshare", [...ownDisk, "mount -t tmpfs -o size=1m none /tmp"]).status === 0;

test.skipIf(!canMount)("D3 a full disk is one sentence, and nothing recorded is lost", () => {
  const { dir, env, home } = sandbox();
  const script = `
    mkdir -p ${home} && mount -t tmpfs -o size=2m none ${home} || exit 99
    ratchet() { ${process.execPath} ${program} "$@"; }
    ratchet work add kept --id kept || exit 98
    dd if=/dev/zero of=${home}/filler bs=4k 2>/dev/null
    ratchet work add lost --id lost --body "$(head -c 100000 /dev/zero | tr '\\0' x)" >&2; echo "code $?"
    rm ${home}/filler
    ratchet work list --json
  `;
  const { stdout, stderr } = spawnSync("unshare", [...ownDisk, script], { cwd: dir, env, encoding: "utf8" });
  expect(stderr).toMatch(/^ratchet: .*disk/m);
  expect(stderr).toContain("hint: ");
  expect(stderr).not.toContain("    at ");
  const [first, code, ...json] = stdout.split("\n");
  expect([first, code]).toEqual(["kept", "code 1"]);
  expect(JSON.parse(json.join("\n"))).toMatchObject([{ id: "kept" }]);
});
