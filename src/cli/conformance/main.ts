import { dirname, join, resolve } from "node:path";
import { createApp } from "../../app.js";
import { UserError } from "../../lib/errors.js";
import { runToEnd } from "../../lib/run-to-end.js";
import { diagnosticsJson, handlersJson, parsedJson } from "../../views/workflow/conformance.js";
import { hasErrors } from "../commands/workflow-load.js";
import { tellError } from "../errors.js";
import { type Done, runPipeline } from "./run.js";

/** `bin/conformance`: the entry point of Attractor's public test bench. One JSON document on stdout, whatever happens. */
async function main([command, file, ...rest]: readonly string[]): Promise<Done> {
  if (command === "list-handlers" && file === undefined) return { json: handlersJson(), exitCode: 0 };
  const isKnown = command === "parse" || command === "validate" || command === "run";
  if (!isKnown || file === undefined || rest.length > 0)
    throw new UserError("usage: conformance parse FILE | validate FILE | run FILE | list-handlers");
  const path = resolve(file);
  const { env } = process;
  if (command === "run") return await runPipeline({ file: path, env, agent: agentProgram() });
  const app = createApp({ cwd: process.cwd(), env });
  const loaded = await (await app.workflows()).load(path);
  const exitCode = hasErrors(loaded) ? 1 : 0;
  if (command === "validate") return { json: diagnosticsJson(loaded.diagnostics), exitCode };
  if (loaded.graph === null)
    return { json: { nodes: [], edges: [], ...diagnosticsJson(loaded.diagnostics) }, exitCode };
  // A graph that cannot be run can still be looked at.
  return { json: parsedJson(loaded.graph), exitCode: 0 };
}

/** Beside this program. */
function agentProgram(): string {
  return join(dirname(resolve(process.argv[1] ?? "")), "responses-agent.js");
}

async function tell(): Promise<Done> {
  try {
    return await main(process.argv.slice(2));
  } catch (error) {
    const { text, exit } = tellError(error, 1);
    process.stderr.write(`${text}\n`);
    return { json: { status: "fail", error: { message: text } }, exitCode: exit };
  }
}

runToEnd(async () => {
  const { json, exitCode } = await tell();
  process.stdout.write(`${JSON.stringify(json, null, 2)}\n`);
  process.exitCode = exitCode;
});
