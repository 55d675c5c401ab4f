#!/usr/bin/env node
// Stands in for cerberus. CERBERUS_STUB (JSON) tells it what to do: {spawn: {code, say, print}, stale: how often a review is
// already active, resolve: {code}, wait: {code, print, crash, hang, late: how
// often it runs out of time first}, key: the run's, where it is not the one it was given, files: {path below the run's folder: JSON}}. What
// it was called with is appended to calls.jsonl in its state folder.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const plan = JSON.parse(process.env.CERBERUS_STUB ?? "{}");
const [command, ...args] = process.argv.slice(2);
const root = process.env.CERBERUS_STATE_ROOT;
const run = join(root, process.env.CERBERUS_PROJECT_KEY, process.env.CERBERUS_RUN_KEY);
const gate = join(run, "gate-state.json");
const option = (name) => args[args.indexOf(name) + 1];
mkdirSync(run, { recursive: true });
appendFileSync(join(root, "calls.jsonl"), `${JSON.stringify([command, ...args])}\n`);

function fail(code, say) {
  process.stderr.write(`${say}\n`);
  process.exit(code);
}

const commands = {
  "spawn-code-review": () => {
    if (!existsSync(option("--context-file"))) fail(2, "no such context file");
    const left = join(run, "stale");
    const stale = existsSync(left) ? Number(readFileSync(left, "utf8")) : (plan.stale ?? 0);
    if (stale > 0) {
      writeFileSync(left, String(stale));
      fail(1, "a review gate is already active for this session");
    }
    if (plan.spawn?.code) fail(plan.spawn.code, plan.spawn.say ?? "no reviewer CLI is available");
    for (const [path, value] of Object.entries(plan.files ?? {})) {
      mkdirSync(dirname(join(run, path)), { recursive: true });
      writeFileSync(join(run, path), typeof value === "string" ? value : JSON.stringify(value));
    }
    writeFileSync(gate, JSON.stringify({ status: "pending" }));
    process.stdout.write(plan.spawn?.print ?? `review spawned (run key: ${process.env.CERBERUS_RUN_KEY})\n`);
  },
  resolve: () => {
    if (plan.resolve?.code) fail(plan.resolve.code, "no active review");
    const left = join(run, "stale");
    writeFileSync(left, String(Number(readFileSync(left, "utf8")) - 1));
    process.stdout.write("resolved\n");
  },
  wait: () => {
    if (option("--session-key") !== (plan.key ?? process.env.CERBERUS_RUN_KEY) || !existsSync(gate))
      fail(1, "no such review");
    const asked = join(run, "asked");
    const times = existsSync(asked) ? readFileSync(asked, "utf8").length : 0;
    writeFileSync(asked, "x".repeat(times + 1));
    if (times < (plan.wait?.late ?? 0)) process.exit(3);
    if (plan.wait?.hang) return setInterval(() => undefined, 1000);
    process.stdout.write(plan.wait?.print ?? "");
    if (plan.wait?.crash) process.kill(process.pid, "SIGKILL");
    process.exitCode = plan.wait?.code ?? 0;
  },
};
if (!(command in commands)) fail(2, `unknown subcommand "${command}"`);
commands[command]();
