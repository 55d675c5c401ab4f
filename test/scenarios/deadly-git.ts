import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "./sandbox.js";

/** Kills whoever starts the n-th git command, be it by a shell, or lets git have one thing done. */
export function deadlyGit(world: Pick<Sandbox, "put" | "root">): NodeJS.ProcessEnv {
  const git = execFileSync("which", ["git"], { encoding: "utf8" }).trim();
  const whole = `const { spawn } = require("node:child_process");
    const child = spawn(${JSON.stringify(git)}, process.argv.slice(2), { stdio: ["pipe", "inherit", "inherit"] });
    child.on("close", (code) => process.exit(code ?? 1));
    process.stdin.on("end", () => child.stdin.end()).on("data", (data) => {
      if (data.includes(process.env.KILL_AT)) process.kill(process.ppid, "SIGKILL");
      else child.stdin.write(data);
    });`;
  const relay = world.put("deadly/relay.cjs", whole);
  const shell = `#!/bin/sh
n=$(($(cat "$HOME/git-calls") + 1)); echo $n >"$HOME/git-calls"
if [ $n = "$KILL_AT" ]; then
  p=$PPID
  while case "$(ps -o comm= -p $p)" in *sh) ;; *) false ;; esac; do p=$(ps -o ppid= -p $p); done
  kill -9 $p; exit 1
fi
case "$KILL_AT $*" in refs*--stdin*) exec "${process.execPath}" "${relay}" "$@" ;; *) exec ${git} "$@" ;; esac
`;
  chmodSync(world.put("deadly/git", shell), 0o755);
  return { PATH: `${join(world.root, "deadly")}:${process.env.PATH}` };
}
