import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findProgram } from "../../src/lib/process/find.js";
import { followProgram } from "../../src/lib/process/follow.js";
import { agents, attempts, belongings, endings, never, start, text, until } from "./process-support.js";

const { fresh } = attempts();

test("a program gets its arguments untouched, exactly its environment, its prompt and its folder", async () => {
  const folder = fresh();
  const nasty = ["a b", "", "$HOME", "`id`", "'\"", "é\n*", "-n", "\\", "x".repeat(100_000)];
  const code =
    "console.log(JSON.stringify([process.argv.slice(1), process.env, process.cwd()])); process.stdin.pipe(process.stderr)";
  const env = { PATH: process.env.PATH ?? "", ODD: "a=b\n'\"$x", d: "1", c: "2", n: "3", signal: "4" };
  writeFileSync(join(folder, "prompt.md"), "a prompt\nwith {braces} and $dollars");
  await start(folder, [process.execPath, "-e", code, "--", ...nasty], { env, stdinFile: join(folder, "prompt.md") });
  expect(await followProgram(folder, { signal: never })).toEqual({ type: "exited", code: 0, stopped: null });
  const [argv, seen, cwd] = JSON.parse(text(folder, "stdout.log"));
  const { RATCHET_TURN, PWD, OLDPWD, SHLVL, _, ...rest } = seen;
  expect(argv).toEqual(nasty);
  expect(rest).toEqual(env);
  expect(RATCHET_TURN).toMatch(/^[0-9a-f]{32}$/);
  expect(cwd).toBe(folder);
  expect(text(folder, "stderr.log")).toBe("a prompt\nwith {braces} and $dollars");
});

test.each(endings)("%j ends with %i", async (argv, code, said) => {
  const folder = fresh();
  await start(folder, argv);
  expect(await followProgram(folder, { signal: never })).toEqual({ type: "exited", code, stopped: null });
  expect(findProgram(folder)).toEqual({ state: "ended", exit: code });
  expect(text(folder, "stderr.log")).toContain(said);
});

test("a folder to work in that is missing is said, and nothing is started", async () => {
  const folder = fresh();
  await expect(start(folder, ["true"], { cwd: join(folder, "gone") })).rejects.toThrow(
    "the folder to work in is missing",
  );
  expect(findProgram(folder)).toEqual({ state: "none" });
});

test("however often it is started, one program runs in a folder", async () => {
  const folder = fresh();
  const env = {
    PATH: process.env.PATH ?? "",
    RECORD_FILE: join(folder, "record"),
    RATCHET_RESULT_FILE: join(folder, "result.json"),
  };
  const argv = [join(agents, "records-start.sh")] as const;
  const starts = await Promise.all(Array.from({ length: 8 }, () => start(folder, argv, { env })));
  expect(starts.filter((attached) => !attached)).toHaveLength(1);
  await followProgram(folder, { signal: never });
  expect(await start(folder, argv, { env })).toBe(true);
  expect(await followProgram(folder, { signal: never })).toMatchObject({ type: "exited", code: 0 });
  expect(text(folder, "record")).toMatch(/^start \d+\n$/);
});

test("an agent that prints 100 MB costs no memory, and its output is complete", async () => {
  const folder = fresh();
  const before = process.memoryUsage().rss;
  let peak = before;
  const onOutput = (): void => {
    peak = Math.max(peak, process.memoryUsage().rss);
  };
  await start(folder, [process.execPath, join(agents, "prints-100-mb.mjs")]);
  await followProgram(folder, { signal: never, onOutput });
  onOutput();
  expect(statSync(join(folder, "stdout.log")).size).toBe(100 * 1024 * 1024 + "the end\n".length);
  expect(peak - before).toBeLessThan(50 * 1024 * 1024);
});

test("an agent that never reads its 10 MB prompt does not hang", async () => {
  const folder = fresh();
  writeFileSync(join(folder, "prompt.md"), "p".repeat(10 * 1024 * 1024));
  await start(folder, [join(agents, "never-reads-stdin.sh")], { stdinFile: join(folder, "prompt.md") });
  const timeoutAt = Date.now() + 20_000;
  expect(await followProgram(folder, { signal: never, timeoutAt })).toMatchObject({ type: "exited", code: 0 });
  expect(text(folder, "stdout.log")).toBe("not interested\n");
});

test("what a program leaves behind is ended with it, daemons in their own session too", async () => {
  const folder = fresh();
  await start(folder, [join(agents, "leaks-a-child.sh")]);
  expect(await followProgram(folder, { signal: never })).toMatchObject({ type: "exited", code: 0 });
  await until("nothing left over", () => belongings(folder).length === 0, 3000);
});

test("a program that ends at once leaves nothing of its shim behind", async () => {
  const folders = Array.from({ length: 30 }, fresh);
  for (const folder of folders) {
    await start(folder, ["true"]);
    await followProgram(folder, { signal: never });
  }
  // Well before the watcher's own sleep would end.
  await until("no shim left", () => folders.every((folder) => belongings(folder).length === 0), 3000);
});
