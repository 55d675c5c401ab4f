import { appendFileSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { followProgram } from "../../src/lib/process/follow.js";
import { prepareShims, startProgram } from "../../src/lib/process/start.js";

/** An orchestrator of one turn, to be killed: starts or attaches, follows, records what it harvested. */
const [folder = "", agent = "", workSeconds = "0", ahead = ""] = process.argv.slice(2);
if (ahead !== "") prepareShims(folder);
writeSync(1, "starting\n");
await startProgram({
  folder,
  argv: [agent],
  env: {
    PATH: process.env.PATH ?? "",
    RECORD_FILE: join(folder, "record"),
    RATCHET_RESULT_FILE: join(folder, "result.json"),
    WORK_SECONDS: workSeconds,
  },
  cwd: folder,
  stdinFile: join(folder, "prompt.md"),
  stdoutFile: join(folder, "stdout.log"),
  stderrFile: join(folder, "stderr.log"),
});
const end = await followProgram(folder, { signal: new AbortController().signal, timeoutAt: Date.now() + 30_000 });
const result = end.type === "exited" ? readFileSync(join(folder, "result.json"), "utf8").trim() : null;
appendFileSync(join(folder, "harvest"), `${JSON.stringify({ end, result })}\n`);
