import type { Command } from "commander";
import type { Choose } from "../context.js";
import { withExample } from "./example.js";

interface Json {
  readonly json?: boolean;
}

export function declareProject(program: Command, choose: Choose): void {
  declareConfig(program, choose);
  declareWorktrees(program, choose);
  const gc = program
    .command("gc")
    .description("clear away runs older than retention_days whose work has landed or is parked, and pack the mirror")
    .option("--dry-run", "say what would go and remove nothing")
    .option("--json", "print JSON");
  withExample(gc, "ratchet gc --dry-run").action((options: Json & { readonly dryRun?: boolean }) =>
    choose(async (context) => (await import("../commands/gc.js")).clearAway(context, options)),
  );
  const commands = () => import("../commands/project.js");
  const project = program.command("project").description("the repositories Ratchet knows");
  withExample(project, "ratchet project list");
  const list = project.command("list").description("all of them").option("--json", "print JSON");
  withExample(list, "ratchet project list").action((options: Json) =>
    choose(async (context) => (await commands()).listProjects(context, options)),
  );
  const add = project
    .command("add [folder]")
    .description("make a repository known (each is made known on first use anyway)")
    .option("--json", "print JSON");
  withExample(add, "ratchet project add ../shop").action((folder: string | undefined, options: Json) =>
    choose(async (context) => (await commands()).addProject(context, folder ?? ".", options)),
  );
  const move = project
    .command("move <id>")
    .description("its repository was renamed or moved, and is the current directory's now")
    .option("--json", "print JSON");
  withExample(move, "ratchet project move shop").action((id: string, options: Json) =>
    choose(async (context) => (await commands()).moveProject(context, id, options)),
  );
  const remove = project
    .command("remove <id>")
    .description("show and work on it no longer; no file is touched, and its next use brings it back")
    .option("--force", "although issues are open or a run is going on")
    .option("--json", "print JSON");
  withExample(remove, "ratchet project remove shop").action(
    (id: string, options: Json & { readonly force?: boolean }) =>
      choose(async (context) => (await commands()).removeProject(context, id, options)),
  );
}

function declareConfig(program: Command, choose: Choose): void {
  const commands = () => import("../commands/config.js");
  const config = program.command("config").description("ratchet.yaml: check it, or print its schema");
  withExample(config, "ratchet config check");
  const check = config
    .command("check")
    .description("every mistake in ratchet.yaml at once")
    .option("--json", "print JSON");
  withExample(check, "ratchet config check").action((options: Json) =>
    choose(async (context) => (await commands()).checkConfig(context, options)),
  );
  const schema = config.command("schema").description("the JSON Schema of ratchet.yaml, for editors");
  withExample(schema.option("--json", "the same"), "ratchet config schema > ratchet.schema.json").action(() =>
    choose(async (context) => (await commands()).printSchema(context)),
  );
}

function declareWorktrees(program: Command, choose: Choose): void {
  const commands = () => import("../commands/worktree.js");
  const worktree = program.command("worktree").description("the issues' own checkouts");
  withExample(worktree, "ratchet worktree list");
  const list = worktree.command("list").description("those of this repository").option("--json", "print JSON");
  withExample(list, "ratchet worktree list").action((options: Json) =>
    choose(async (context) => (await commands()).listWorktrees(context, options)),
  );
  const park = worktree
    .command("park <issue>")
    .description("put a checkout aside with its uncommitted and new files, but none that git ignores")
    .option("--json", "print JSON");
  withExample(park, "ratchet worktree park shop-3").action((issue: string, options: Json) =>
    choose(async (context) => (await commands()).parkWorktree(context, issue, options)),
  );
  const restore = worktree.command("restore <issue>").description("bring back what was put aside, byte for byte");
  withExample(restore.option("--json", "print JSON"), "ratchet worktree restore shop-3").action(
    (issue: string, options: Json) =>
      choose(async (context) => (await commands()).restoreWorktree(context, issue, options)),
  );
  const clean = worktree
    .command("clean")
    .description("remove all that nobody works in; what is nowhere else is put aside first")
    .option("--dry-run", "say which would go and remove nothing")
    .option("--json", "print JSON");
  withExample(clean, "ratchet worktree clean --dry-run").action((options: Json & { readonly dryRun?: boolean }) =>
    choose(async (context) => (await commands()).cleanWorktrees(context, options)),
  );
}
