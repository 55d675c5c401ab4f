import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { parseArgs, promisify } from "node:util";

/**
 * The coding agents that tests run, each pinned and in a folder of its own: `<cache>/<name>@<version>`. A folder appears by
 * one rename when everything in it works, so whatever is there is whole, also when two of these run at once.
 */
const programs = {
  claude: { package: "@anthropic-ai/claude-code", version: "2.1.197", afterwards: ["install.cjs"] },
  codex: { package: "@openai/codex", version: "0.166.0" },
  pi: { package: "@earendil-works/pi-coding-agent", version: "0.74.2" },
  "claude-agent-acp": { package: "@agentclientprotocol/claude-agent-acp", version: "0.49.0" },
  "codex-acp": { package: "@agentclientprotocol/codex-acp", version: "2.6.0" },
  // Large, so only by name: --only opencode,gemini.
  opencode: { package: "opencode-ai", version: "1.18.33", afterwards: ["postinstall.mjs"], optional: true },
  gemini: { package: "@google/gemini-cli", version: "0.61.0", optional: true },
};
const installTimeoutMs = 15 * 60_000;
const staleMs = 60 * 60_000;
const run = promisify(execFile);

export const agentNames = Object.keys(programs);
const usualNames = agentNames.filter((name) => !programs[name].optional);

function cacheFolder() {
  return process.env.RATCHET_AGENTS_CACHE || join(homedir(), ".cache", "ratchet", "agents");
}

/** Where a program's command is, or null: it is not installed. */
export function findAgent(name) {
  const file = binOf(join(cacheFolder(), `${name}@${programs[name].version}`), name);
  return existsSync(file) ? file : null;
}

/** Installs what is missing. One that fails is reported and left out: `{name, version, bin | null, error | null, isNew}`. */
export async function installAgents(names = usualNames, tell = () => undefined) {
  mkdirSync(cacheFolder(), { recursive: true });
  removeStale();
  const results = [];
  for (const name of names) {
    const result = await installOne(name);
    tell(result);
    results.push(result);
  }
  return results;
}

async function installOne(name) {
  const { version } = programs[name];
  const found = findAgent(name);
  if (found) return { name, version, bin: found, error: null, isNew: false };
  const folder = join(cacheFolder(), `.installing-${name}-${process.pid}-${Date.now()}`);
  try {
    await fill(folder, name);
    moveIn(folder, join(cacheFolder(), `${name}@${version}`));
    return { name, version, bin: findAgent(name), error: null, isNew: true };
  } catch (error) {
    return { name, version, bin: null, error: lastWords(error), isNew: false };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(folder, name) {
  const { package: packageName, version, afterwards } = programs[name];
  mkdirSync(folder);
  // Scripts of packages are run by name below: npm's word for allowing them differs between its versions.
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
  await run("npm", ["install", "--prefix", folder, ...flags, `${packageName}@${version}`], {
    cwd: folder,
    timeout: installTimeoutMs,
  });
  const packageFolder = join(folder, "node_modules", packageName);
  if (afterwards) await run(process.execPath, afterwards, { cwd: packageFolder, timeout: installTimeoutMs });
  if (!existsSync(binOf(folder, name))) throw new Error(`${packageName} has no command ${name}`);
  await proveItStarts(folder, name);
}

/** Adapters know no --version: they wait for a client and end when their input does. */
async function proveItStarts(folder, name) {
  const home = join(folder, "home");
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home, PI_OFFLINE: "1", DISABLE_AUTOUPDATER: "1" };
  mkdirSync(home);
  const args = name.endsWith("-acp") ? [] : ["--version"];
  const started = run(binOf(folder, name), args, { cwd: folder, env, timeout: 60_000 });
  started.child.stdin?.end();
  await started;
  rmSync(home, { recursive: true, force: true });
}

/** Whoever comes second keeps what the first one put there. */
function moveIn(folder, place) {
  try {
    renameSync(folder, place);
  } catch (error) {
    if (!["ENOTEMPTY", "EEXIST"].includes(error.code)) throw error;
  }
}

function removeStale() {
  for (const entry of readdirSync(cacheFolder())) {
    const path = join(cacheFolder(), entry);
    if (entry.startsWith(".installing-") && isOlder(path, staleMs)) rmSync(path, { recursive: true, force: true });
  }
}

function isOlder(path, ms) {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > ms;
}

function binOf(folder, name) {
  return join(folder, "node_modules", ".bin", name);
}

function lastWords(error) {
  const text = `${error.stderr ?? ""}`.trim() || error.message;
  return text.split("\n").slice(-3).join(" ");
}

async function main() {
  const list = { type: "string", default: "" };
  const { values } = parseArgs({ options: { only: list, "must-have": list } });
  const split = (text) => text.split(",").filter((name) => name !== "");
  const [only, required] = [split(values.only), split(values["must-have"])];
  const unknown = [...only, ...required].filter((name) => !agentNames.includes(name));
  if (unknown.length > 0) throw new Error(`unknown: ${unknown.join(", ")}; known: ${agentNames.join(", ")}`);
  const wanted = only.length > 0 ? only : [...new Set([...usualNames, ...required])];
  const results = await installAgents(wanted, ({ name, version, bin, error, isNew }) => {
    const outcome = error === null ? `${isNew ? "installed" : "there"}  ${bin}` : `left out: ${error}`;
    process.stdout.write(`${name} ${version}  ${outcome}\n`);
  });
  const missing = required.filter((name) => !results.some((one) => one.name === name && one.bin !== null));
  if (missing.length === 0) return;
  process.stderr.write(`needed and not there: ${missing.join(", ")}\n`);
  process.exitCode = 1;
}

// By name: bundled with a program that uses it, this file is not the one that was started.
if (basename(process.argv[1] ?? "") === "install-agents.mjs") await main();
