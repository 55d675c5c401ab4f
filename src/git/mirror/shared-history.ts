import { gitText } from "../git.js";

/** Whether a repository has one of the commits that the user's branches were at when the mirror saw them last. */
export async function sharesHistory(repoPath: string, mirrorPath: string): Promise<boolean> {
  const tips = await gitText(mirrorPath, ["for-each-ref", "--format=%(objectname)", "refs/user/heads"]);
  const ids = [...new Set(tips.split("\n"))].filter((id) => id !== "").slice(0, 1000);
  if (ids.length === 0) return true;
  return (await gitText(repoPath, ["rev-list", "--no-walk", "--ignore-missing", ...ids])) !== "";
}
