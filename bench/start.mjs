import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fillEvents } from "../dist-test/bench-fill.mjs";
import { compare, runProgram } from "./measure.mjs";

/** How long a command takes to answer, against the shortest program Node can run. */
const program = new URL("../dist/ratchet.js", import.meta.url).pathname;
const bare = () => runProgram("node", ["-e", "0"]);

export async function run() {
  const folder = mkdtempSync(join(tmpdir(), "ratchet-bench-"));
  try {
    const home = join(folder, "home");
    const repository = join(folder, "repository");
    runProgram("git", ["init", "-qb", "main", repository]);
    const git = (...args) =>
      runProgram("git", ["-C", repository, "-c", "user.name=a", "-c", "user.email=a@b", ...args]);
    git("commit", "-q", "--allow-empty", "-m", "start");
    await fillEvents({ home, repository, events: 100_000 });
    const options = { cwd: repository, env: { ...process.env, RATCHET_HOME: home } };
    const rounds = 11;
    return [
      await compare("ratchet --version / node -e 0", {
        theirs: bare,
        ours: () => runProgram("node", [program, "--version"], options),
        rounds,
        limit: 1.6,
      }),
      await compare("ratchet status with 100,000 events / node -e 0", {
        theirs: bare,
        ours: () => runProgram("node", [program, "status"], options),
        rounds,
        limit: 3,
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
