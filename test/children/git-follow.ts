import { join } from "node:path";
import { openMirror } from "../../src/git/mirror/mirror.js";
import { catchUpTarget } from "../../src/git/users-branch/follow.js";

/** Brings the user's branch forward to what has landed. */
const [repo = "", home = ""] = process.argv.slice(2);
const mirror = await openMirror({ repoPath: repo, mirrorPath: join(home, "mirror.git") });
await catchUpTarget(mirror, "main");
