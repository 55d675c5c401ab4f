import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { type Sandbox, sandbox } from "./sandbox.js";

test("config check says that a file is fine, with its warnings", async () => {
  const { ratchet, write, start } = sandbox();
  write("ratchet.yaml", "agent: {type: command, command: [my-agent]}\n");
  expect(await ratchet("config", "check")).toEqual({ code: 0, stdout: "ratchet.yaml is fine\n", stderr: "" });
  const warned = await start(["config", "check"], { env: { RATCHET_MAX_AGNTS: "3" } }).ended;
  expect(warned.code).toBe(0);
  expect(warned.stdout).toContain("did you mean RATCHET_MAX_AGENTS");
});

test("config check lists every mistake and exits 2", async () => {
  const { ratchet, write } = sandbox();
  write("ratchet.yaml", "agent: {type: command, command: [my-agent]}\nmax_agents: -3\nmax_isues: 2\n");
  const { code, stdout, stderr } = await ratchet("config", "check");
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^ratchet\.yaml:2:\d+: max_agents: /m);
  expect(stderr).toMatch(/^ratchet\.yaml:3:\d+: max_isues: unknown key.*\n {2}hint: did you mean max_issues/m);
  const json = await ratchet("config", "check", "--json");
  expect(json.code).toBe(2);
  const { diagnostics } = JSON.parse(json.stdout);
  expect(diagnostics).toMatchObject([
    { severity: "error", file: "ratchet.yaml", line: 2, key: "max_agents" },
    { severity: "error", file: "ratchet.yaml", line: 3, key: "max_isues" },
  ]);
});

test("a file that is nearly called like a prompt is told once by config check, doctor and run, and others are left alone", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: ["true"] } });
  for (const name of ["implementor.md", "append.md", "fixer.md", "README.md", "plan.md"]) {
    box.write(`.ratchet/prompts/${name}`, "x {{nope}}\n".slice(0, name === "implementor.md" ? 11 : 2));
  }
  const file = ".ratchet/prompts/implementor.md";
  const said = `${file}: warning: no prompt is called so, ignored\n  hint: did you mean implementer.md?\n`;
  const checked = await box.ratchet("config", "check");
  expect(checked).toEqual({ code: 0, stdout: `ratchet.yaml is fine\n${said}`, stderr: "" });
  const { checks } = JSON.parse((await box.ratchet("doctor", "--json")).stdout);
  expect(checks.filter(({ name }: { name: string }) => name === "prompts")).toEqual([
    expect.objectContaining({
      ok: true,
      detail: expect.stringContaining(file),
      advice: "did you mean implementer.md?",
    }),
  ]);
  const { code, stderr } = await box.ratchet("run");
  expect([code, stderr.split(said)]).toEqual([0, ["", expect.stringContaining("nothing is ready")]]);
});

test("a prompt of the project that a run refuses is refused by config check and doctor, too", async () => {
  const box = sandbox();
  box.configure({ agent: { type: "command", command: ["true"] } });
  box.write(".ratchet/prompts/implementer.md", "{{issue}} {{nope}}\n");
  box.write(".ratchet/prompts/continue.md", "{{issue}}\n");
  await box.add("a");
  const refused = await box.ratchet("run");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  for (const [file, name] of [
    ["implementer", "nope"],
    ["continue", "issue"],
  ])
    expect(refused.stderr).toContain(`${file}.md uses {{${name}}}, which this prompt does not have; it has issue_id,`);
  const { code, stdout } = await box.ratchet("config", "check", "--json");
  expect(code).toBe(2);
  expect(JSON.parse(stdout).diagnostics).toMatchObject([
    {
      ...{ severity: "error", file: ".ratchet/prompts/implementer.md", line: null },
      message: expect.stringMatching(/^uses \{\{nope\}\}, which this prompt does not have/),
    },
    { severity: "error", file: ".ratchet/prompts/continue.md", message: expect.stringMatching(/^uses \{\{issue\}\}/) },
  ]);
  const examined = await box.ratchet("doctor");
  expect([examined.code, examined.stdout]).toEqual([1, expect.stringMatching(/^MISSING +prompts +.*\{\{nope\}\}/m)]);
});

test.each([
  ["implementer.md", "a pipe", ["mkfifo"], "it is not a file"],
  ["append.md", "a pipe", ["mkfifo"], "it is not a file"],
  ["append.md", "a folder", ["mkdir"], "it is not a file"],
  ["append.md", "a link to itself", ["ln", "-s", "append.md"], "ELOOP"],
  ["implementer.md", "a link that leads nowhere", ["ln", "-s", "../../shared/nothing.md"], "ENOENT"],
])("a %s of the project that is %s is refused, and not waited for", async (name, _, make, why) => {
  const box = sandbox();
  const file = join(".ratchet", "prompts", name);
  mkdirSync(dirname(join(box.dir, file)), { recursive: true });
  await expectRefused(box, file, [...make, join(box.dir, file)], why);
});

test.each([
  ["a link to itself", "prompts", "ELOOP"],
  ["a link that leads nowhere", "../shared/prompts", "ENOENT"],
])("prompts of the project in a folder that is %s are refused", async (_, target, why) => {
  const box = sandbox();
  const folder = join(".ratchet", "prompts");
  mkdirSync(dirname(join(box.dir, folder)));
  await expectRefused(box, folder, ["ln", "-s", target, join(box.dir, folder)], why);
});

async function expectRefused(box: Sandbox, file: string, [make = "", ...args]: readonly string[], why: string) {
  box.configure({ agent: { type: "command", command: ["true"] } });
  execFileSync(make, args);
  await box.add("a");
  const refused = await box.ratchet("run");
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain(`${file} cannot be read: ${why}`);
  const { code, stdout } = await box.ratchet("config", "check", "--json");
  expect([code, JSON.parse(stdout).diagnostics]).toMatchObject([2, [{ severity: "error", file }]]);
}

test("config check needs no repository", async () => {
  const { start, put, root } = sandbox();
  put("plain/ratchet.yaml", "agent: {type: command, command: [my-agent]}\n");
  expect((await start(["config", "check"], { cwd: `${root}/plain` }).ended).code).toBe(0);
});

test("config schema is a JSON Schema of the settings", async () => {
  const { ratchet } = sandbox();
  const { code, stdout } = await ratchet("config", "schema");
  expect(code).toBe(0);
  const schema = JSON.parse(stdout);
  expect(schema.title).toBe("ratchet.yaml");
  expect(Object.keys(schema.properties)).toEqual(expect.arrayContaining(["agent", "commands", "per_issue_review"]));
});
