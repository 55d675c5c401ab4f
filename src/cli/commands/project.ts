import { statSync } from "node:fs";
import { resolve } from "node:path";
import { createApp, type Store } from "../../app.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { renderColumns } from "../../views/columns.js";
import { type Context, chooseProject } from "../context.js";
import { roomOf } from "../room.js";
import { typed } from "../typed.js";

interface Json {
  readonly json?: boolean;
}

export async function listProjects({ app, out }: Context, { json }: Json): Promise<number> {
  const projects = await (await app.store("reader")).projects();
  if (json) out.json(projects.map(({ id, repoPath }) => ({ project_id: id, repo_path: repoPath })));
  else if (projects.length === 0) out.line("no project yet: a repository is known once Ratchet is used in it");
  else {
    const rows = projects.map(({ id, repoPath }) => [id, repoPath]);
    for (const line of renderColumns([{ title: "project" }, { title: "repository" }], rows, await roomOf(out)))
      out.line(line);
  }
  return 0;
}

export async function addProject({ cwd, env, out }: Context, folder: string, { json }: Json): Promise<number> {
  if (folder.trim() === "") throw new UserError("the folder is empty", { hint: "ratchet project add ." });
  const path = resolve(cwd, folder);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new Refusal(`${typed(folder)} is not there`, { code: "not-found" });
  if (!stats.isDirectory()) throw new Refusal(`${typed(folder)} is no folder`, { code: "not-a-folder" });
  const there = createApp({ cwd: path, env });
  try {
    const { id, repoPath } = await there.project();
    if (json) out.json({ project_id: id, repo_path: repoPath });
    else out.line(id);
    return 0;
  } finally {
    there.close();
  }
}

export async function removeProject(
  context: Context,
  name: string,
  { force, json }: Json & { readonly force?: boolean },
): Promise<number> {
  const { app, out } = context;
  const { id, repoPath } = await chooseProject(context, name);
  const store = await app.store();
  const reason = force ? null : await whyKept(store, id);
  if (reason !== null) {
    throw new Refusal(`${id} is not removed: ${reason}`, {
      code: "open-work",
      hint: "--force removes it all the same",
    });
  }
  if (!(await store.removeProject(id))) throw new Refusal(`no project ${id}`, { code: "not-found" });
  if (json) out.json({ project_id: id, repo_path: repoPath, removed: true });
  else out.line(`${id} is removed; ${repoPath} is as it was, and Ratchet used there brings ${id} back`);
  return 0;
}

async function whyKept(store: Store, id: string): Promise<string | null> {
  const running = (await store.unfinishedRuns(id)).find(({ driverAlive }) => driverAlive);
  if (running !== undefined) return `the run ${running.run.runId} is going on`;
  const open = await store.openItems(id, mostCounted);
  if (open === 0) return null;
  return open === 1 ? "an issue is open" : `${open === mostCounted ? "many" : open} issues are open`;
}
const mostCounted = 1000;
