import { createApp } from "../../src/app.js";

/** For benchmarks: runs in this process, without the command line around them. */
export async function openBench({ cwd, home }: { readonly cwd: string; readonly home: string }) {
  const app = createApp({ cwd, env: { ...process.env, RATCHET_HOME: home } });
  const { settings } = await app.settings({});
  const options = { scope: { type: "all" }, resume: false, strict: false, fresh: false, maxIssues: null } as const;
  return {
    store: await app.store(),
    projectId: (await app.project()).id,
    async run(): Promise<void> {
      const { exitCode } = await (await app.openRun({ type: "new", settings, options })).done;
      if (exitCode !== 0) throw new Error(`the run ended with ${exitCode}`);
    },
    close: () => app.close(),
  };
}

export async function addIssues(
  bench: Awaited<ReturnType<typeof openBench>>,
  ids: readonly string[],
  deps: readonly string[] = [],
): Promise<void> {
  for (const id of ids) {
    await bench.store.workItems.add({
      projectId: bench.projectId,
      id,
      title: id,
      body: "",
      type: "task",
      parent: null,
      deps,
      priority: 2,
      source: "implement",
      createdAt: null,
    });
  }
}
