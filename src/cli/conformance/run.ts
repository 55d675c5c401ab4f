import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, createApp } from "../../app.js";
import { diagnosticsJson, runJson } from "../../views/workflow/conformance.js";
import { hasErrors } from "../commands/workflow-load.js";
import { readEvents } from "../run/drive.js";

export interface Done {
  readonly json: unknown;
  readonly exitCode: number;
}

interface Request {
  readonly file: string;
  readonly env: NodeJS.ProcessEnv;
  /** The program that sends prompts to `$OPENAI_BASE_URL/responses`. */
  readonly agent: string;
}

/**
 * Runs a pipeline for real, with a model server as its only agent, in a folder and a state home of its own: whatever
 * its tools do, they do it there. Human gates take their first option, as Attractor's automatic interviewer does.
 */
export async function runPipeline({ file, env, agent }: Request): Promise<Done> {
  const folder = await mkdtemp(join(tmpdir(), "ratchet-conformance-"));
  const app = createApp({ cwd: folder, env: { ...env, RATCHET_HOME: join(folder, ".home") } });
  try {
    await writeFile(join(folder, "ratchet.yaml"), JSON.stringify(settings(agent)));
    return await runIn(app, file);
  } finally {
    app.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

function settings(agent: string) {
  const server = ["OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL"];
  const limits = ["RATCHET_FIRST_BYTE_SECONDS", "RATCHET_SILENCE_SECONDS"];
  return {
    agent: {
      type: "command",
      command: [process.execPath, agent],
      env: ["PATH", "HOME", "TMPDIR", ...server, ...limits],
    },
  };
}

async function runIn(app: App, file: string): Promise<Done> {
  const loaded = await (await app.workflows()).load(file);
  const { graph } = loaded;
  if (graph === null || hasErrors(loaded))
    return { json: { status: "fail", ...diagnosticsJson(loaded.diagnostics) }, exitCode: 1 };
  const started = await app.openWorkflow({
    source: loaded.source,
    graph,
    goal: null,
    runId: null,
    ask: async ({ options: [first] }) =>
      first === undefined ? null : { option: first.key, feedback: null, by: "conformance" },
  });
  const stop = () => void started.cancel();
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  try {
    const end = await started.done;
    const events = await readEvents(await app.store(), started.runId, 0);
    return { json: runJson(events, end), exitCode: end.exitCode };
  } finally {
    process.off("SIGINT", stop);
    process.off("SIGTERM", stop);
  }
}
