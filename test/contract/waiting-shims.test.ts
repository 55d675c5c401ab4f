import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { followProgram } from "../../src/lib/process/follow.js";
import { prepareShims } from "../../src/lib/process/start.js";
import { stopProgram } from "../../src/lib/process/stop.js";
import { agents, attempts, belongings, endings, never, start, text, until } from "./process-support.js";

const { fresh } = attempts();
beforeAll(() => prepareShims("a test"));

const odd = `a 'quote' "two" $HOME \`x\` \\ ! * ünïcödé 🦀\nnext line`;
const exited = (code: number) => ({ type: "exited", code, stopped: null });

test("a program whose shim waited has its arguments, files, session and only the environment it was given", async () => {
  const here = fresh();
  writeFileSync(join(here, "prompt.md"), `a prompt\n${odd}`);
  const script = 'env; printf "%s|" "$@"; cat; umask; ps -o pid=,sid= -p $PPID; echo to-stderr >&2; exit 3';
  const env = { A: odd, RATCHET_TURN: "another's", signal: "4" };
  await start(here, ["sh", "-c", script, "sh", odd, "", "-n"], { env, stdinFile: join(here, "prompt.md") });
  expect(await followProgram(here, { signal: never })).toEqual(exited(3));
  const output = text(here, "stdout.log");
  expect(output).toContain(`A=${odd}\n`);
  expect(output).toContain(`${odd}||-n|a prompt\n${odd}`);
  expect(output).toContain(process.umask().toString(8).padStart(4, "0"));
  expect(output).toMatch(/^RATCHET_TURN=[0-9a-f]{32}$/m);
  expect(output).not.toMatch(/^(HOME|OLDPWD|PATH)=/m);
  const [, pid, session] = /^ *(\d+) +(\d+)$/m.exec(output) ?? [];
  expect(session).toBe(pid);
  expect(readFileSync(join(here, "pid"), "utf8").trim()).toBe(pid);
  expect(text(here, "stderr.log")).toBe("to-stderr\n");
  expect(statSync(join(here, "stdout.log")).mode & 0o777).toBe(0o600);
});

test.each(endings)("%j ends with %i", async (argv, code, said) => {
  const here = fresh();
  await start(here, argv);
  expect(await followProgram(here, { signal: never })).toEqual(exited(code));
  expect(text(here, "stderr.log")).toContain(said);
});

test("many programs, one after the other and at once, each have a shim of their own", async () => {
  const one = async (round: number, at: number) => {
    const here = fresh();
    await start(here, ["sh", "-c", `echo ${round}-${at}; exit ${at}`]);
    expect(await followProgram(here, { signal: never })).toEqual(exited(at));
    expect(text(here, "stdout.log")).toBe(`${round}-${at}\n`);
    // Its shim has said how it ended, and may not have ended itself.
    await until("its shim has ended", () => belongings(here).length === 0);
    return text(here, "pid");
  };
  const claims: string[] = [];
  for (let round = 0; round < 4; round++)
    claims.push(...(await Promise.all(Array.from({ length: 6 }, (_, at) => one(round, at)))));
  expect(new Set(claims).size).toBe(24);
});

test("what a shell could not be told is started all the same", async () => {
  const here = fresh();
  const env = { UID: "7", BIG: "b".repeat(100_000) };
  await start(here, ["/usr/bin/env"], { env });
  expect(await followProgram(here, { signal: never })).toEqual(exited(0));
  const lines = text(here, "stdout.log").split("\n");
  for (const [name, value] of Object.entries(env)) expect(lines.includes(`${name}=${value}`), name).toBe(true);
});

test("a program whose shim waited is stopped with everything it started, and one that was stopped before never begins", async () => {
  const here = fresh();
  await start(here, ["sh", join(agents, "hangs.sh")]);
  await stopProgram(here, { first: "SIGTERM", graceMs: 200, why: "stopped" });
  expect(await followProgram(here, { signal: never })).toMatchObject({ type: "exited", stopped: "stopped" });
  expect(belongings(here)).toEqual([]);
  const other = fresh();
  await stopProgram(other, { first: "SIGTERM", graceMs: 0, why: null });
  expect(await start(other, ["touch", join(other, "ran")])).toBe(true);
});

test("an agent behind a wrapper has its grace also where the shim waited", async () => {
  const here = fresh();
  await start(here, [join(agents, "behind-a-wrapper.sh")]);
  await until("it is ready", () => said(here, "ready") === 2);
  const following = followProgram(here, { signal: never });
  await stopProgram(here, { first: "SIGTERM", graceMs: 15_000, why: null });
  expect(await following).toEqual(exited(143));
  expect(said(here, "saved")).toBe(2);
  expect(belongings(here)).toEqual([]);
});

/** The shim makes the file, a moment after it was told to. */
function said(folder: string, word: string): number {
  return existsSync(join(folder, "stdout.log")) ? text(folder, "stdout.log").split(word).length - 1 : 0;
}
