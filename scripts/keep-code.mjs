import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * Keeps, beside the built program, what V8 makes of its files (src/cli/load.ts starts with it): common commands run in a
 * small repository, and each adds the functions that it came to. In their processes this file is what writes that down.
 */
const self = fileURLToPath(import.meta.url);
const program = join(dirname(self), "../dist/ratchet.js");

function keepCompiled() {
  const compiled = new Map();
  globalThis[Symbol.for("ratchet.compiled")] = compiled;
  process.on("exit", () => {
    for (const [path, { toKeep }] of compiled) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, toKeep());
    }
  });
}

/** An agent whose first turn fails the gate and whose second one a review, as most do. */
const agent = 'cat >/dev/null; echo "$RATCHET_ATTEMPT" >>done; git add -A; git commit -qm work';
const finding = { file: "done", line_start: 1, line_end: 1, priority: 1, title: "Wrong", body: "It is wrong." };
const reviewer = `cat >/dev/null
if [ "$RATCHET_ATTEMPT" -lt 2 ]; then echo '${JSON.stringify({ verdict: "fail", findings: [finding] })}'
else echo '{"verdict": "pass", "findings": []}'; fi`;
const configuration = {
  agent: { type: "command", command: ["sh", "-c", agent] },
  commands: { test: "test $(wc -l <done) -gt 1" },
  evidence_check: { required: ["test"] },
  per_issue_review: { enabled: true, reviewer_type: "command", command: ["sh", "-c", reviewer] },
};
const commands = [
  ["--version"],
  ["config", "check"],
  ["work", "add", "one", "--id", "one"],
  ["work", "list"],
  ["explain", "one"],
  ["run"],
  ["run", "--resume"],
  ["status"],
  ["findings", "one", "--all"],
  ["diff", "one"],
  ["runs", "export", "last"],
  ["logs", "show", "last"],
  ["gc"],
];

function runCommands() {
  const root = mkdtempSync(join(tmpdir(), "ratchet-code-"));
  try {
    const env = { ...process.env, HOME: root, RATCHET_HOME: join(root, "home"), GIT_CONFIG_NOSYSTEM: "1" };
    const options = { cwd: join(root, "repository"), env, encoding: "utf8", stdio: "pipe" };
    mkdirSync(options.cwd);
    const git = (...args) => execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...args], options);
    git("init", "-qb", "main");
    git("commit", "-qm", "start", "--allow-empty");
    // JSON is YAML.
    writeFileSync(join(options.cwd, "ratchet.yaml"), JSON.stringify(configuration));
    for (const args of commands) execFileSync(process.execPath, ["--import", self, program, ...args], options);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (process.argv[1] === self) runCommands();
else keepCompiled();
