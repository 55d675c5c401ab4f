import { realpathSync } from "node:fs";
import { isAbsolute, join, relative } from "node:path";
import { reviewerSource } from "../../config/reviewer.js";
import type { Settings } from "../../core/settings.js";
import { statsOf } from "../../lib/files.js";

/** Files of the checkout that the commands of agents and reviewers name, as they are called below `root`. */
export function commandFiles(settings: Settings, root: string): string[] {
  const inRoot = commandsIn(settings)
    .flat()
    .filter((word) => !isAbsolute(word) && statsOf(join(root, word))?.isFile())
    .map((word) => relative(root, realpathSync(join(root, word))))
    .filter((path) => !path.startsWith("../"));
  const isCopied = (path: string) =>
    settings.worktree.copy.some((one) => `${path}/`.startsWith(`${relative("/", join("/", one))}/`));
  return [...new Set(inRoot)].filter((path) => !isCopied(path));
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
