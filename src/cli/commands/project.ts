import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { createApp, type Project, type Store } from "../../app.js";
import { Refusal, UserError } from "../../lib/errors.js";
import { shellWord } from "../../lib/quoted.js";
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
    const rows = projects.map(({ id, repoPath }) => [id, `${repoPath}${existsSync(repoPath) ? "" : " (gone)"}`]);
    for (const line of renderColumns([{ title: "project" }, { title: "repository" }], rows, await roomOf(out, rows)))
      out.line(line);
    if (rows.some(([, place]) => place?.endsWith(" (gone)"))) {
      out.note("a repository that was moved: ratchet project move <project>, where it is now");
    }
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

/** The current directory's repository is the project's, which was somewhere else. */
export async function moveProject(context: Context, name: string, { json }: Json): Promise<number> {
  const { app, out } = context;
  const [project, root] = [await chooseProject(context, name), await app.root()];
  if (project.repoPath !== root) await takeOver(context, project, root);
  if (json) out.json({ project_id: project.id, repo_path: root });
  else out.line(`${project.id} is at ${root}`);
  return 0;
}

async function takeOver({ app }: Context, project: Project, root: string): Promise<void> {
  const { id, repoPath } = project;
  const refuse = (reason: string, hint: string) =>
    new Refusal(`${id} is not moved: ${reason}`, { code: "not-moved", hint });
  if (existsSync(repoPath)) throw refuse(`${repoPath} is still there`, "move the folder first");
  if (!(await app.mayBeRepositoryOf(id))) {
    throw refuse(`${root} has none of its commits`, "change to the repository that was moved");
  }
  const store = await app.store();
  const running = await runOf(store, id);
  if (running !== null) throw refuse(running, "ratchet stop, or wait for its end");
  const here = await store.projectAt(root);
  const reason = here === null ? null : await whyKept(store, here.id);
  if (here !== null && reason !== null) {
    throw refuse(`in ${here.id}, which is here now, ${reason}`, `ratchet work list --project ${shellWord(here.id)}`);
  }
  if (!(await store.moveProject(project, root))) throw refuse("it was moved meanwhile", "ratchet project list");
}

async function whyKept(store: Store, id: string): Promise<string | null> {
  const running = await runOf(store, id);
  if (running !== null) return running;
  const open = await store.openItems(id, mostCounted);
  if (open === 0) return null;
  return open === 1 ? "an issue is open" : `${open === mostCounted ? "many" : open} issues are open`;
}
const mostCounted = 1000;

async function runOf(store: Store, id: string): Promise<string | null> {
  const running = (await store.unfinishedRuns(id)).find(({ driverAlive }) => driverAlive);
  return running === undefined ? null : `the run ${running.run.runId} is going on`;
}
