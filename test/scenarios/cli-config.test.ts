import { expect, test } from "vitest";
import { sandbox } from "./sandbox.js";

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
