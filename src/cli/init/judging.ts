import type { Answers } from "./answers.js";

/** The commands that can judge: `setup` only prepares. */
export function judging({ commands }: Pick<Answers, "commands">): string[] {
  return Object.keys(commands).filter((name) => name !== "setup");
}
