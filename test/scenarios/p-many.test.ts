import { expect, test } from "vitest";
import { agentScript, prWorld } from "./pr-world.js";

const issues = [1, 2, 3, 4, 5, 6, 7, 8].map((n) => `shop-${n}`);

test("P8 eight pull requests are followed without a word too many; one that is closed during its rework ends the run", async () => {
  const world = await prWorld({ max_agents: 4, pull_requests: { poll_seconds: 1 } });
  for (const id of issues) await world.add(id, { title: `Write ${id}` });
  expect(await world.ratchet("run")).toMatchObject({ code: 0, stderr: "" });
  expect(await world.ratchet("pr", "sync")).toMatchObject({ code: 0, stderr: "" });

  await world.reject(1, "Not yet.");
  expect(await world.ratchet("run")).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Warning") });
  expect((await world.ratchet("doctor")).stdout).toContain("the history of 2 machines gives what is stored");

  const how = { method: "PATCH", headers: { authorization: `Bearer ${world.jo.token}` }, body: '{"state":"closed"}' };
  const close = `fetch("${world.server.url}/repos/acme/shop/pulls/1", ${JSON.stringify(how)})`;
  world.script("agent.sh", `${agentScript}node -e '${close}'\n`);
  await world.reject(1, "Still not.");
  expect(await world.ratchet("run")).toMatchObject({ code: 0 });
  expect((await world.jo.send("GET", "/pulls/1")).state).toBe("closed");
});
