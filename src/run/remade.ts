import { gitDirFor, wasSetUp } from "../git/checkout/checkout.js";
import { type LifeContext, worktreePath } from "./context.js";

/** Setup has not run since the files of the worktree were made: somebody had deleted them in the middle of the life. */
export async function tellRemade(life: LifeContext): Promise<{ readonly remade?: true }> {
  const { mirror, settings } = life.run;
  if (!settings.commands.setup) return {};
  return (await wasSetUp({ gitDir: gitDirFor(mirror, worktreePath(life)) })) ? {} : { remade: true };
}
