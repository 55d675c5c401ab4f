import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { caseScript } from "./cases.js";
import { type ProgramName, plainCall, sessionIn } from "./programs.js";
import { type AgentWorld, agentWorld, expectNothingRuns, isInstalled } from "./world.js";

const programs: readonly ProgramName[] = ["claude", "codex", "pi"];

describe.each(programs)("%s against the model server", (program) => {
  it.skipIf(!isInstalled(program))("works, resumes with its history and stays inside its folders", async () => {
    const world = await agentWorld(caseScript);
    const first = await turn(world, program, { prompt: "WRITE the file" });
    expect(first.code, first.stderr).toBe(0);
    expect(world.git("log", "--format=%s")).toBe("Add hello\nThe beginning");

    const second = await turn(world, program, { prompt: "MORE please", session: sessionIn(first.stdout) });
    expect(second.code, second.stderr).toBe(0);
    expect(world.read("hello.txt")).toBe("hello\nmore\n");
    const asked = world.server.requests().flatMap((request) => request.asked ?? []);
    const prompts = asked.filter(({ tools }) => tools.length > 0).map((one) => one.prompts);
    expect(prompts.slice(0, 3)).toEqual([1, 1, 1]);
    expect(Math.min(...prompts.slice(3))).toBeGreaterThanOrEqual(2);

    await expectNothingRuns(world);
    expect(world.strays()).toEqual([]);
  });
});

async function turn(
  world: AgentWorld,
  program: ProgramName,
  { prompt, session = null }: { prompt: string; session?: string | null },
) {
  const file = (name: string) => join(world.root, name);
  writeFileSync(file("prompt"), `${prompt}\n`);
  const handles = [await open(file("prompt")), await open(file("stdout"), "w"), await open(file("stderr"), "w")];
  const [name, ...args] = plainCall(program, session);
  const child = spawn(name, args, { cwd: world.dir, env: world.env, stdio: handles.map(({ fd }) => fd) });
  const [code] = await once(child, "exit");
  for (const handle of handles) await handle.close();
  return { code, stdout: await readFile(file("stdout"), "utf8"), stderr: await readFile(file("stderr"), "utf8") };
}
