/** The options of `ratchet work` that take one id or several. */
const lists = new Map([
  ["add", "--dep"],
  ["dep", "--on"],
]);

/**
 * `work dep c --on a b` as `work dep c --on a --on b`. Only behind what the command is about: in front of that, the
 * option takes one word, or it would take the issue's own id or title along.
 */
export function spreadIds(args: readonly string[]): readonly string[] {
  const [group, verb = "", about = "-"] = args;
  const option = lists.get(verb);
  if (group !== "work" || option === undefined || about.startsWith("-")) return args;
  let isListed = false;
  return args.flatMap((word, at) => {
    if (word.startsWith("-")) isListed = word === option;
    const isFurther = isListed && word !== option && args[at - 1] !== option;
    return isFurther ? [option, word] : [word];
  });
}
