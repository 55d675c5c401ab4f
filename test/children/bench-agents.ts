import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findAgent } from "../../scripts/install-agents.mjs";
import { loadAgent } from "../../src/app/adapters.js";
import { createApp } from "../../src/app.js";
import { allowedEnvironment } from "../../src/lib/environment.js";
import { startModelServer } from "../model-server/server.js";
import { type ProgramName, prepareSurroundings } from "../real-agents/programs.js";

/** For benchmarks: the real programs, a model that lets them commit one file, and their command lines as a run has them. */

export function isInstalled(name: ProgramName): boolean {
  return findAgent(name) !== null;
}

/** `env` leads the programs to the model and keeps what they write below `root`. */
export async function openModel(root: string) {
  const server = await startModelServer({
    script: ({ toolResults }) => ({
      say:
        toolResults.length === 0
          ? [{ shell: "date > file && git add file && git commit -qm work" }]
          : [{ text: "Done." }],
    }),
  });
  return {
    env: prepareSurroundings({ root, url: server.url }),
    /** When the model was first asked since then: by the agent itself, which offers tools, not by an errand of its program. */
    firstAsked: (since: number): number | null =>
      server
        .requests()
        .filter(({ asked }) => asked !== null && asked.tools.length > 0)
        .map(({ at }) => Date.parse(at))
        .find((at) => at >= since) ?? null,
    close: () => server.close(),
  };
}

export interface BareTurn {
  readonly repository: string;
  /** The environment that Ratchet would be started with. */
  readonly env: NodeJS.ProcessEnv;
  readonly worktree: string;
  /** Not there yet: what the program needs besides its command line is written into it. */
  readonly folder: string;
}

/** What a run of that repository would start for an issue's first turn, to be started without it. */
export async function bareCall({ repository, env, worktree, folder }: BareTurn) {
  const app = createApp({ cwd: repository, env });
  try {
    const { settings } = await app.settings({});
    const agent = await loadAgent(settings.agent, null, env);
    const temporary = join(folder, "tmp");
    mkdirSync(temporary, { recursive: true });
    const turn = {
      ...({ role: "implementer", prompt: "implementer", runId: "run", issueId: "one", stageId: "implement" } as const),
      ...{ attempt: 1, sessionId: null, model: settings.agent.model, effort: settings.agent.effort, review: null },
      cwd: worktree,
      files: {
        folder,
        stdout: join(folder, "transcript.jsonl"),
        stderr: join(folder, "stderr.log"),
        result: join(folder, "result.json"),
      },
      guard: { worktree, readOnly: false, writable: [temporary] },
    };
    await agent.prepare?.(turn);
    const { argv, env: own, inherit } = agent.command(turn);
    const visible = allowedEnvironment(env, inherit ?? settings.agent.env);
    return { argv, env: { ...visible, TMPDIR: temporary, ...own } };
  } finally {
    app.close();
  }
}
