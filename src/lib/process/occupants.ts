import { readdirSync, readlinkSync } from "node:fs";
import { codeOf } from "../errors.js";

/** Only where the system tells who is where. */
export const canSeeOccupants = process.platform === "linux";

/** Whether a process stands in this folder, or holds something in it open. Those of other users cannot be seen. */
export function isOccupied(folder: string): boolean {
  const inside = (link: string) => {
    const target = targetOf(link);
    return target === folder || target.startsWith(`${folder}/`);
  };
  return namesIn("/proc")
    .filter((name) => /^\d+$/.test(name))
    .some(
      (pid) => inside(`/proc/${pid}/cwd`) || namesIn(`/proc/${pid}/fd`).some((fd) => inside(`/proc/${pid}/fd/${fd}`)),
    );
}

/** Gone meanwhile, or somebody else's. */
const unseen = ["ENOENT", "ESRCH", "EACCES", "EPERM"];

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch (error) {
    if (unseen.includes(codeOf(error) ?? "")) return "";
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (unseen.includes(codeOf(error) ?? "")) return [];
    throw error;
  }
}
