import { missingProgram } from "../lib/program-files.js";

/** Of an agent that brings its program's name: nobody is told of a setting that they have not written. */
export function missingAgent(
  command: readonly string[],
  { program, installHint }: { readonly program: string; readonly installHint: string },
  dir: string | undefined,
): ReturnType<typeof missingProgram> {
  if (command.length > 0) return missingProgram(command[0], "agent.command", dir);
  const missing = missingProgram(program, "agent.type", dir);
  return missing === null ? null : { ...missing, hint: installHint };
}
