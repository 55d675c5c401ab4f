import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { listCarriers, listProcesses, rowsFromPs } from "./table.js";

test("what ps prints is read, zombies left out", () => {
  const text = [
    "    1     0     1 Ss   Mon Jan  5 09:00:01 2026 /sbin/launchd",
    "  501     1   501 S    Mon Jan  5 09:00:02 2026 sh -c text ratchet-shim /home/x/attempt c00c1e 6 10 agent PATH=/bin",
    "  502   501   501 S+   Mon Jan  5 09:00:03 2026 agent --flag PATH=/bin RATCHET_TURN=c00c1e HOME=/x",
    "  503   502   503 Z    Mon Jan  5 09:00:03 2026 (agent)",
    "garbage",
    "",
  ].join("\n");
  expect(rowsFromPs(text, "c00c1e")).toEqual([
    { pid: 1, parent: 0, session: 1, start: "Mon Jan  5 09:00:01 2026", carries: false, isShim: false },
    { pid: 501, parent: 1, session: 501, start: "Mon Jan  5 09:00:02 2026", carries: false, isShim: true },
    { pid: 502, parent: 501, session: 501, start: "Mon Jan  5 09:00:03 2026", carries: true, isShim: false },
  ]);
});

test("a process is found by its cookie, also behind a large environment, with its parent", async () => {
  const cookie = `test-${process.pid}-${Date.now()}`;
  const child = spawn("sleep", ["600"], { env: { PAD: "x".repeat(100_000), RATCHET_TURN: cookie }, stdio: "ignore" });
  try {
    await expect
      .poll(() => listCarriers({ cookie }).rows.map((row) => row.pid), { timeout: 10_000 })
      .toEqual([child.pid]);
    const row = listProcesses({ cookie, folder: "" }).find(({ pid }) => pid === child.pid);
    expect(row).toMatchObject({ parent: process.pid, carries: true, isShim: false, start: expect.stringMatching(/./) });
  } finally {
    child.kill("SIGKILL");
  }
});
