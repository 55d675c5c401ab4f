import { ExternalError } from "../lib/errors.js";
import { runProgram } from "./git.js";

/** Removes a folder whatever is in it: names that are no text, folders without write permission. */
export async function removeTree(path: string): Promise<void> {
  const options = { cwd: "/", env: { ...process.env, LC_ALL: "C" } };
  const remove = () => runProgram("rm", ["-rf", "--", path], options);
  if ((await remove()).code === 0) return;
  await runProgram("chmod", ["-R", "u+rwX", "--", path], options);
  const second = await remove();
  if (second.code !== 0)
    throw new ExternalError("rm", `${path} could not be removed: ${second.stderr.trim().slice(0, 300)}`);
}
