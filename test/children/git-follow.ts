import { join } from "node:path";
import { catchUpTarget } from "../../src/git/follow.js";
import { openMirror } from "../../src/git/mirror.js";

/** Brings the user's branch forward to what has landed. */
const [repo = "", home = ""] = process.argv.slice(2);
const mirror = await openMirror({ repoPath: repo, mirrorPath: join(home, "mirror.git") });
await catchUpTarget(mirror, "main");
