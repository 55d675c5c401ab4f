import { findExecutable } from "./executable.js";

const names = ["bd", "br"] as const;
export type BeadsProgram = (typeof names)[number];

/** The program of beads that is called there, the first that is on PATH; null: there is none. */
export function findBeads({
  cwd,
  env,
}: {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}): { readonly name: BeadsProgram; readonly path: string } | null {
  for (const name of names) {
    const seen = findExecutable(name, env.PATH ?? "", cwd);
    if (seen.state === "found") return { name, path: seen.path };
  }
  return null;
}
