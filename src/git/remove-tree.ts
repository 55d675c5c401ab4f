import { ExternalError } from "../lib/errors.js";
import { runProgram } from "./git.js";

/** Removes folders whatever is in it: names that are no text, folders without write permission. */
export async function removeTree(...paths: readonly string[]): Promise<void> {
  await removeTreeAs({}, ...paths);
}

/** With these variables in the environment of what removes. */
export async function removeTreeAs(env: Readonly<Record<string, string>>, ...paths: readonly string[]): Promise<void> {
  const options = { cwd: "/", env: { ...process.env, LC_ALL: "C", ...env } };
  const remove = () => runProgram("rm", ["-rf", "--", ...paths], options);
  if ((await remove()).code === 0) return;
  await runProgram("chmod", ["-R", "u+rwX", "--", ...paths], options);
  const second = await remove();
  if (second.code !== 0)
    throw new ExternalError("rm", `${paths[0]} could not be removed: ${second.stderr.trim().slice(0, 300)}`);
}
