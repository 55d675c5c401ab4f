import { isAncestor, readRefs } from "../git/mirror-refs.js";

const landed = "refs/ratchet/landed/";

/** The branches of the user's repository that do not have what has landed for them, and what to run. */
export async function branchesBehind(repoPath: string): Promise<string[]> {
  const lines = await readRefs(repoPath, [landed.slice(0, -1)]);
  const said = await Promise.all(
    [...lines].map(async ([ref, tip]) => {
      const target = ref.slice(landed.length);
      const user = (await readRefs(repoPath, [`refs/heads/${target}`])).get(`refs/heads/${target}`);
      if (user === undefined || user === tip || (await isAncestor(repoPath, tip, user))) return null;
      const how = (await isAncestor(repoPath, user, tip)) ? "git merge --ff-only" : "git merge";
      return `${target} is behind: run \`${how} ${ref}\``;
    }),
  );
  return said.filter((line) => line !== null);
}
