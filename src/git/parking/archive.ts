import { rm, writeFile } from "node:fs/promises";
import { ExternalError } from "../../lib/errors.js";
import { gitEnvironment } from "../environment.js";
import { type GitOutput, runProgram } from "../git.js";

/** Packs the named files, and whole folders, below `from`, byte for byte with modes and links. Names are bytes. */
export async function packFiles(file: string, from: string, names: readonly Buffer[]): Promise<void> {
  const list = `${file}.names`;
  // "./" keeps a name that starts with a dash from being read as an option.
  await writeFile(list, Buffer.concat(names.flatMap((name) => [Buffer.from("./"), name, Buffer.of(0)])));
  const output = await tar(["-cf", file, "-C", from, "--null", "-T", list], from);
  await rm(list);
  // 1: a file changed while it was read, which is no failure of ours.
  if (output.code > 1) throw failed("packed", from, output);
}

/** With these variables in the environment of what writes there. */
export async function unpackFiles(file: string, to: string, env: Readonly<Record<string, string>>): Promise<void> {
  const output = await tar(["-xpf", file, "-C", to], to, env);
  if (output.code !== 0) throw failed("unpacked", to, output);
}

function tar(args: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}): Promise<GitOutput> {
  return runProgram("tar", args, { cwd, env: gitEnvironment(env) });
}

function failed(what: string, where: string, output: GitOutput): ExternalError {
  return new ExternalError("tar", `the files of ${where} could not be ${what}: ${output.stderr.trim().slice(0, 300)}`);
}
