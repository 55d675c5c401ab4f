import { realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { reviewerSource } from "../../config/reviewer.js";
import type { Settings } from "../../core/settings.js";
import { statsOf } from "../../lib/files.js";
import { neededForSetup } from "./setup-needs.js";

/** Files of the checkout that the commands of agents and reviewers name, as they are called below `root`. */
export function commandFiles(settings: Settings, root: string): string[] {
  const inRoot = commandsIn(settings)
    .flat()
    .filter((word) => !isAbsolute(word) && statsOf(join(root, word))?.isFile())
    .map((word) => relative(root, realpathSync(join(root, word))))
    .filter((path) => !path.startsWith("../"));
  return withoutCopied(settings, [...new Set(inRoot)]);
}

/** Groups of files that are there and that `commands.setup` needs: of each one has to be in the worktrees. */
export function setupFiles(settings: Settings, root: string): string[][] {
  const groups = neededForSetup(settings.commands.setup?.command ?? "");
  const here = groups.map((files) => files.filter((file) => statsOf(join(root, file))?.isFile()));
  return here.filter((files) => files.length > 0 && withoutCopied(settings, files).length === files.length);
}

function withoutCopied(settings: Settings, paths: readonly string[]): string[] {
  const isCopied = (path: string) =>
    settings.worktree.copy.some((one) => `${path}/`.startsWith(`${relative("/", join("/", one))}/`));
  return paths.filter((path) => !isCopied(path));
}

function commandsIn(settings: Settings): (readonly string[])[] {
  const { command, fallback } = settings.agent;
  const { section, reviewer } = reviewerSource(settings);
  const isUsed = section !== "default" || settings.pull_requests.review.enabled;
  const slots = !isUsed ? [] : reviewer.reviewer_type === "panel" ? reviewer.panel : [reviewer];
  const reviewers = slots.map((slot) =>
    slot.reviewer_type === "command" ? slot.command : (slot.agent_sdk_agent?.command ?? []),
  );
  return [command, fallback?.command ?? [], ...reviewers];
}
