import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createApp } from "../../app.js";
import { Refusal } from "../../lib/errors.js";
import { renderColumns } from "../../views/columns.js";
import type { Context } from "../context.js";
import { roomOf } from "../room.js";

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
  const path = resolve(cwd, folder);
  if (!existsSync(path)) throw new Refusal(`${folder} is not there`, { code: "not-found" });
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
