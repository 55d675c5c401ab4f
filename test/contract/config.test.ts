import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { formatDiagnostic } from "../../src/config/diagnostic.js";
import { type Loaded, loadConfig } from "../../src/config/load.js";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "ratchet-config-"));
});
afterEach(async () => {
  await rm(dir, { recursive: true, force: true });
});

const agent = "agent: {type: scripted, script: play.yaml}\n";

async function load(files: Record<string, string | Buffer>): Promise<Loaded> {
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
  return loadConfig({ dir, env: {}, flags: {}, machine: { cores: 2, freeMemoryBytes: 4e9 } });
}
function said(loaded: Loaded): string[] {
  return (loaded.ok ? loaded.warnings : loaded.diagnostics).map(formatDiagnostic);
}

describe("which file is read", () => {
  test("ratchet.yaml, and then no mala.yaml", async () => {
    const loaded = await load({ "ratchet.yaml": `${agent}max_issues: 1`, "mala.yaml": "coder: claude" });
    const expected = { ok: true, file: join(dir, "ratchet.yaml"), warnings: [] };
    expect(loaded).toMatchObject({
      ...expected,
      settings: { max_issues: 1, agent: { script: join(dir, "play.yaml") } },
    });
  });

  test("mala.yaml where there is no ratchet.yaml", async () => {
    const loaded = await load({ "mala.yaml": "coder: claude" });
    expect(loaded).toMatchObject({ ok: true, file: join(dir, "mala.yaml"), settings: { agent: { type: "claude" } } });
  });

  test("none: one sentence, with a hint that itself is a good configuration", async () => {
    const loaded = await load({});
    expect(loaded).toMatchObject({ ok: false, file: null, diagnostics: [{ key: "", line: null }] });
    expect(said(loaded)[0]).toContain(`ratchet.yaml: no such file in ${dir}\n  hint: run \`ratchet init\``);
    const hint = loaded.ok ? "" : (loaded.diagnostics[0]?.hint ?? "");
    expect(await load({ "ratchet.yaml": hint.slice(hint.indexOf("\n")) })).toMatchObject({ ok: true, warnings: [] });
  });

  test("ratchet.yml is pointed out, not read", async () => {
    expect(said(await load({ "ratchet.yml": agent }))[0]).toContain("ratchet.yml is there and is not read");
  });

  test("a link to a file is followed", async () => {
    await writeFile(join(dir, "real.yaml"), agent);
    await symlink(join(dir, "real.yaml"), join(dir, "ratchet.yaml"));
    expect(await load({})).toMatchObject({ ok: true });
  });
});

describe("a file that cannot be used gets one sentence", () => {
  test("a folder", async () => {
    await mkdir(join(dir, "ratchet.yaml"));
    expect(said(await load({}))).toEqual(["ratchet.yaml: expected a file, found something else of that name"]);
  });
  test.each<[string, Buffer, string]>([
    ["10 MB", Buffer.alloc(10_000_000, "a: b\n"), "expected a file of at most 128 KiB, found 9766 KiB"],
    ["other bytes", Buffer.from([0x61, 0x3a, 0x20, 0xff, 0xfe]), "expected text in UTF-8, found other bytes"],
    ["UTF-16", Buffer.from("\uFEFFa: b", "utf16le"), "expected text in UTF-8, found other bytes"],
  ])("%s", async (_, content, message) => {
    expect(said(await load({ "ratchet.yaml": content }))).toEqual([`ratchet.yaml: ${message}`]);
  });
});

test("finalize.into takes the names that git takes for a branch, and no others", async () => {
  const alone = [
    "main",
    "feature/x-1",
    "a.b",
    "a./b",
    "über",
    "a@b",
    "@x",
    "x/@",
    "HEADS",
    "x/HEAD",
    "a.locks",
    "a-",
    "a{b",
    "a b",
  ];
  const odd = [
    "",
    "HEAD",
    "@",
    "-x",
    "a..b",
    "..",
    "a@{b",
    ".a",
    "a/.b",
    "a.lock",
    "a.lock/b",
    "a/",
    "/a",
    "a//b",
    "a.",
  ];
  const names = [...alone, ...odd, ...Array.from("~^:?*[\\\t\n\u0001\u007f", (bad) => `a${bad}b`)];
  execFileSync("git", ["init", "--quiet", dir]);
  const byGit = names.filter(
    (name) => spawnSync("git", ["check-ref-format", "--branch", name], { cwd: dir }).status === 0,
  );
  const byUs: string[] = [];
  for (const name of names) {
    const loaded = await load({ "ratchet.yaml": `${agent}finalize: {into: ${JSON.stringify(name)}}` });
    if (loaded.ok) byUs.push(name);
  }
  expect(byUs).toEqual(byGit);
  expect(byUs).toContain("feature/x-1");
});

test("B10 an edit after loading changes nothing for who holds the settings", async () => {
  const loaded = await load({ "ratchet.yaml": `${agent}max_issues: 1` });
  await writeFile(join(dir, "ratchet.yaml"), `${agent}max_issues: 2`);
  expect(loaded).toMatchObject({ settings: { max_issues: 1 } });
  expect(Object.isFrozen(loaded.ok && loaded.settings)).toBe(true);
});

test("the whole example of the documentation parses", async () => {
  const text = `preset: node-npm
commands:
  test: npm test
  lint: { command: npm run lint, timeout: 60 }
evidence_check: { required: [test, lint] }
agent: { type: claude, model: m, effort: high, command: [], workflow: null, sandbox: none, fallback: null, backoff_seconds: [1, 2, 4, 8] }
timeout_minutes: 30
max_agents: auto
max_issues: null
max_gate_retries: 3
tracker: { type: local }
per_issue_review:
  enabled: true
  reviewer_type: cerberus
  command: []
  panel: []
  max_retries: 3
  finding_threshold: P1
  track_review_issues: true
  failure_mode: continue
  cerberus: { timeout: 300, spawn_args: ["--mode", "fast"], wait_args: [], env: [] }
  agent_sdk_timeout: 600
  agent_sdk_model: sonnet
  agent_sdk_agent: null
  baseline: null
validation_triggers:
  session_end: { failure_mode: continue, max_retries: 0, timeout: 1800, commands: [{ref: test}], code_review: {enabled: true} }
  run_end: { fire_on: success, failure_mode: continue, commands: [], code_review: {enabled: true} }
  epic_completion: { epic_depth: top_level, fire_on: success, failure_mode: continue, commands: [test] }
  periodic: { interval: 5, failure_mode: continue, commands: [test] }
finalize: { mode: merge, into: null }
pull_requests: { max_rework_cycles: null, comment_timeout_seconds: 30, max_inline_comments: 50, rework_on_comment: true,
                 trusted: [OWNER, MEMBER, COLLABORATOR], review: {enabled: false}, merge: none, poll_seconds: 60 }
forge: { type: github, repo: null, api_url: null }
budgets: { issue: {usd: 1.5, tokens: 1000, minutes: 5}, run: {} }
convergence: { same_failure: 3, rounds_without_fewer_findings: 3 }
store: { url: null }
`;
  const messages = said(await load({ "ratchet.yaml": text }));
  expect(messages).toEqual([]);
});
