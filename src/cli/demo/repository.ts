import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { codeOf, ExternalError, messageOf, UserError } from "../../lib/errors.js";
import { sampleFiles } from "./sample.js";

const execute = promisify(execFile);

/** Nothing of the caller's that points at another repository, changes settings or confuses a test run. */
export function demoEnvironment(env: NodeJS.ProcessEnv, home: string): NodeJS.ProcessEnv {
  const foreign = /^(RATCHET_|GIT_|NODE_TEST_CONTEXT$|NODE_OPTIONS$|NODE_V8_COVERAGE$)/;
  const kept = Object.entries(env).filter(([name]) => !foreign.test(name));
  return { ...Object.fromEntries(kept), RATCHET_HOME: home };
}

/** An identity of its own, no hooks, no templates, no signatures: it works on any machine that has git. */
export async function makeSampleRepository(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  for (const [name, text] of Object.entries(sampleFiles)) {
    await mkdir(dirname(join(path, name)), { recursive: true });
    await writeFile(join(path, name), text);
  }
  const run = (...args: string[]) => git(path, args, env);
  await run("init", "--quiet", "--template=");
  await run("symbolic-ref", "HEAD", "refs/heads/main");
  await run("config", "user.name", "Ratchet demo");
  await run("config", "user.email", "demo@localhost");
  await run("config", "commit.gpgSign", "false");
  await run("add", "--all");
  await run("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", "A small shop");
}

export async function git(cwd: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  try {
    return (await execute("git", [...args], { cwd, env })).stdout.trimEnd();
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new UserError("git is not installed", { hint: "install git", cause: error });
    throw new ExternalError("git", `git ${args[0] ?? ""} failed: ${messageOf(error)}`, { cause: error });
  }
}

export interface TestResult {
  readonly passed: number;
  readonly failed: number;
  /** Names of the tests that failed. */
  readonly failures: readonly string[];
}

/** `node --test`, really run. */
export async function runTests(cwd: string, env: NodeJS.ProcessEnv): Promise<TestResult> {
  const args = ["--test", "--test-reporter=tap"];
  const output = await execute(process.execPath, args, { cwd, env, maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    (error: unknown) => {
      if (error instanceof Error && "stdout" in error && typeof error.stdout === "string") return error.stdout;
      throw error;
    },
  );
  const count = (word: string) => Number(new RegExp(`^# ${word} (\\d+)`, "m").exec(output)?.[1] ?? Number.NaN);
  const failures = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map((match) => match[1] ?? "");
  return { passed: count("pass"), failed: count("fail"), failures: failures.filter((name) => !name.endsWith(".js")) };
}
