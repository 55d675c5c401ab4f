import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { runShellCommand, type ShellCommand, stopShellCommand } from "../../src/lib/run-command.js";
import { agents, attempts, belongings, never, start, text, until } from "./process-support.js";

const { fresh } = attempts();

function command(folder: string, line: string, more: Partial<ShellCommand> = {}): ShellCommand {
  const env = { PATH: process.env.PATH ?? "" };
  return { folder, command: line, cwd: dirname(folder), env, timeoutSeconds: 30, signal: never, ...more };
}

test("a command runs in sh, in its folder, and keeps its whole output apart", async () => {
  const folder = fresh();
  const result = await runShellCommand(
    command(folder, "pwd; echo oops >&2; test \"$A\" = 'x y' && exit 3", { env: { A: "x y" } }),
  );
  expect(result).toMatchObject({ exitCode: 3, timedOut: false, stopped: false });
  expect(result.seconds).toBeLessThan(10);
  expect(result.stdoutPath).toBe(join(folder, "stdout.log"));
  expect(text(folder, "stdout.log")).toBe(`${dirname(folder)}\n`);
  expect(text(folder, "stderr.log")).toBe("oops\n");
});

test("C9 a command over its time is gone with its whole tree, and has no exit code", async () => {
  const folder = fresh();
  const result = await runShellCommand(command(folder, join(agents, "hangs.sh"), { timeoutSeconds: 1 }));
  expect(result).toMatchObject({ exitCode: null, timedOut: true, stopped: false });
  expect(belongings(folder)).toEqual([]);
});

test("E4 an aborted command is gone within 3 s, and the next start runs it again", async () => {
  const folder = fresh();
  const abort = new AbortController();
  const running = runShellCommand(command(folder, join(agents, "hangs.sh"), { signal: abort.signal }));
  await until("it runs", () => existsSync(join(folder, "stdout.log")) && text(folder, "stdout.log").includes("ready"));
  const abortedAt = Date.now();
  abort.abort();
  expect(await running).toMatchObject({ exitCode: null, stopped: true, timedOut: false });
  expect(Date.now() - abortedAt).toBeLessThan(3000);
  expect(belongings(folder)).toEqual([]);
  expect(await runShellCommand(command(folder, "echo again"))).toMatchObject({ exitCode: 0, stopped: false });
});

test("a command left by a crash is stopped, not attached to, and run again in full", async () => {
  const folder = fresh();
  await start(folder, [join(agents, "hangs.sh")]);
  await until("the old one runs", () => text(folder, "stdout.log").includes("ready"));
  const result = await runShellCommand(command(folder, "echo again"));
  expect(belongings(folder)).toEqual([]);
  expect(result).toMatchObject({ exitCode: 0, stdoutPath: join(folder, "stdout.log") });
  expect([text(folder, "stdout.log"), text(folder, "exit")]).toEqual(["again\n", "0\n"]);
  expect(text(folder, "lost-1-stdout.log")).toContain("ready");
  const third = await runShellCommand(command(folder, "exit 4"));
  expect(third).toMatchObject({ exitCode: 4, stdoutPath: join(folder, "stdout.log") });
  expect([text(folder, "stdout.log"), text(folder, "exit")]).toEqual(["", "4\n"]);
});

test("a command that somebody stopped says so, and is not begun again", async () => {
  const folder = fresh();
  const running = runShellCommand(command(folder, "echo ready; sleep 600"));
  await until("it runs", () => existsSync(join(folder, "stdout.log")) && text(folder, "stdout.log").includes("ready"));
  await stopShellCommand(folder, { first: "SIGTERM", graceMs: 5000, why: "stopped" });
  expect(await running).toMatchObject({ exitCode: null, stopped: true });
  expect(await runShellCommand(command(folder, "touch ran"))).toMatchObject({ exitCode: null, stopped: true });
  expect(existsSync(join(dirname(folder), "ran"))).toBe(false);
});

test("a command that was stopped before it began never begins", async () => {
  const folder = join(fresh(), "gate", "test");
  mkdirSync(folder, { recursive: true });
  await stopShellCommand(folder, { first: "SIGTERM", graceMs: 100, why: "stopped" });
  expect(await runShellCommand(command(folder, "touch ran"))).toMatchObject({ exitCode: null, stopped: true });
  expect(existsSync(join(dirname(folder), "ran"))).toBe(false);
});

test("a daemon that a command leaves behind is ended, and does not hold it up", async () => {
  const folder = fresh();
  const result = await runShellCommand(command(folder, "setsid sleep 600 & (setsid sh -c 'sleep 600' &); echo done"));
  expect(result).toMatchObject({ exitCode: 0 });
  expect(result.seconds).toBeLessThan(10);
  await until("nothing left over", () => belongings(folder).length === 0, 3000);
});
