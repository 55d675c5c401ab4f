import type { Command } from "commander";

/** Every help ends with a line that can be copied. */
export function withExample(command: Command, ...lines: readonly string[]): Command {
  const shown = lines.map((line) => `  $ ${line}\n`).join("");
  return command.addHelpText("after", `\n${lines.length === 1 ? "Example" : "Examples"}:\n${shown.trimEnd()}`);
}

/** For options that may be given several times. */
export function collect(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Ids, several times or separated by commas. */
export function collectIds(value: string, earlier: readonly string[] = []): readonly string[] {
  const ids = value.split(",").map((id) => id.trim());
  return [...earlier, ...ids.filter((id) => id !== "")];
}
