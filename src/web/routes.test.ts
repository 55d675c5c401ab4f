import { expect, test } from "vitest";
import { Refusal } from "../lib/errors.js";
import { createRoutes } from "./routes.js";

const cut = "cut \ud83d";
const routes = createRoutes(
  {
    status: async () => ({ runs: [{ waiting_for: cut }] }),
    pullRequests: async () => [{ title: cut }],
    answer: async ({ gate }) => {
      throw new Refusal(`${gate} is answered`, { code: "answered" });
    },
    hear: null,
    told: () => undefined,
  },
  "token",
);

test.each([
  ["GET", "/api/status", 200, { runs: [{ waiting_for: "cut \ufffd" }] }],
  ["GET", "/api/pull-requests", 200, [{ title: "cut \ufffd" }]],
  ["POST", "/api/answer", 409, { error: { code: "answered", message: "cut \ufffd is answered", hint: null } }],
])(
  "half a character is none in the answer to %s %s: every JSON reader takes it",
  async (method, path, status, said) => {
    const body = method === "POST" ? { body: JSON.stringify({ gate: cut, option: "yes" }) } : {};
    const answer = await routes.request(path, { method, headers: { authorization: "Bearer token" }, ...body });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/json"]);
    expect(await answer.json()).toEqual(said);
  },
);
