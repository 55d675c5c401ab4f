import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const program = fileURLToPath(new URL("../../bin/conformance", import.meta.url));
let folder = "";
let server: Server;
let baseUrl = "";
/** What the model was asked, and how often it is still to be busy. */
const asked: { url: string; key: string; model: string; input: string }[] = [];
let busy = 0;
const oddRequests: string[] = [];
const half = [{ type: "message", content: [{ type: "output_text", text: "half an ans" }] }];
/** Servers that do not answer as they should, by the first part of the address. */
const oddAnswers: Readonly<Record<string, (response: ServerResponse) => void>> = {
  incomplete: (response) => {
    const details = { reason: "max_output_tokens" };
    response.end(JSON.stringify({ status: "incomplete", incomplete_details: details, output: half }));
  },
  failed: (response) => {
    const error = { code: "invalid_prompt", message: "model blew" };
    response.end(JSON.stringify({ status: "failed", error, output: half }));
  },
  redirect: (response) => response.writeHead(307, { location: "/redirect/responses" }).end(),
  elsewhere: (response) => response.writeHead(307, { location: "http://127.0.0.1:9/v1/responses" }).end(),
  never: () => undefined,
  stops: (response) => void response.writeHead(200).write("{"),
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "conformance-"));
  server = createServer(async (request, response) => {
    const body = await text(request);
    const [, how] = /^\/(\w+)\/responses/.exec(request.url ?? "") ?? [];
    const odd = oddAnswers[how ?? ""];
    if (odd) {
      oddRequests.push(how ?? "");
      odd(response);
      return;
    }
    if (busy-- > 0) {
      response.writeHead(503).end("busy");
      return;
    }
    const { model, input } = JSON.parse(body) as { model: string; input: string };
    asked.push({ url: request.url ?? "", key: request.headers.authorization ?? "", model, input });
    const content = [{ type: "output_text", text: `answer ${asked.length}` }];
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ output: [{ type: "message", content }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  baseUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

async function file(name: string, dot: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, dot);
  return path;
}

interface Answer {
  readonly code: number;
  readonly json: unknown;
}
function conformance(...args: string[]): Promise<Answer> {
  return conformanceWith({ OPENAI_BASE_URL: baseUrl }, ...args);
}
function conformanceWith(more: Readonly<Record<string, string>>, ...args: string[]): Promise<Answer> {
  const env = { ...process.env, OPENAI_API_KEY: "key-1", RATCHET_HOME: join(folder, "home"), ...more };
  return new Promise((resolve) => {
    execFile(program, args, { env, cwd: folder, timeout: 60_000 }, (error, stdout) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, json: JSON.parse(stdout) });
    });
  });
}

const good = `digraph Good {
  graph [goal="ship it"]
  start [shape=Mdiamond] exit [shape=Msquare]
  plan [prompt="Plan $goal" llm_model="m-1" llm_provider=anthropic]
  ask [shape=hexagon label="Go on?"]
  test [shape=parallelogram tool_command="echo tested > out.txt && test ! -e good.dot"]
  taken [prompt="Then this"] untaken [prompt="Never this"]
  start -> plan -> ask; ask -> test [label="[Y] Yes"]; ask -> untaken [label="[N] No"]
  test -> taken [condition="outcome=success"]; test -> untaken [condition="outcome=fail"]
  taken -> exit; untaken -> exit
}`;

describe("bin/conformance", () => {
  it("parses, validates and lists what it knows, as JSON", async () => {
    const path = await file("good.dot", good);
    const orphan = await file(
      "orphan.dot",
      "digraph { start -> a -> exit a [label=x] lonely [label=y] lonely -> exit }",
    );
    const [parsed, valid, bad, missing, handlers, wrong] = await Promise.all([
      conformance("parse", path),
      conformance("validate", path),
      conformance("validate", orphan),
      conformance("validate", join(folder, "none.dot")),
      conformance("list-handlers"),
      conformance("frobnicate"),
    ]);
    expect(parsed).toMatchObject({ code: 0, json: { name: "Good", goal: "ship it" } });
    expect(parsed.json).toMatchObject({
      nodes: expect.arrayContaining([expect.objectContaining({ id: "plan", prompt: "Plan $goal", llm_model: "m-1" })]),
      edges: expect.arrayContaining([{ from: "ask", to: "test", label: "[Y] Yes" }]),
    });
    expect(valid).toEqual({ code: 0, json: { diagnostics: [] } });
    expect(bad).toMatchObject({
      code: 1,
      json: {
        diagnostics: [{ severity: "error", message: expect.stringContaining("unreachable"), line: 1, column: 42 }],
      },
    });
    expect(missing).toMatchObject({ code: 1, json: { diagnostics: [{ severity: "error" }] } });
    expect(handlers.json).toEqual(
      expect.arrayContaining(["start", "exit", "codergen", "wait.human", "parallel.fan_in"]),
    );
    expect(wrong).toMatchObject({ code: 2, json: { status: "fail" } });
  });

  it("runs a pipeline with the model server as its agent, and names only what ran", async () => {
    busy = 1;
    const [ran, failed] = await Promise.all([
      file("good.dot", good).then((path) => conformance("run", path)),
      file("fails.dot", 'digraph { start -> t -> exit t [shape=parallelogram tool_command="exit 3"] }').then((path) =>
        conformance("run", path),
      ),
    ]);
    expect(ran).toMatchObject({
      code: 0,
      json: { status: "success", completed_nodes: ["start", "plan", "ask", "test", "taken", "exit"] },
    });
    expect(JSON.stringify(ran.json)).not.toContain("untaken");
    expect(asked.map(({ url, key, model, input }) => [url, key, model, input.split("\n")[0]])).toEqual([
      ["/v1/responses", "Bearer key-1", "m-1", "Plan ship it"],
      ["/v1/responses", "Bearer key-1", "gpt-5", "Then this"],
    ]);
    expect(failed).toMatchObject({ code: 1, json: { status: "fail", completed_nodes: ["start", "t"] } });
  });

  it.each([
    ["incomplete", 1, /"incomplete\\*": max_output_tokens/],
    ["failed", 1, /"failed\\*": invalid_prompt: model blew/],
    ["redirect", 4, /redirect \(307\) that is not followed: it is one more after 3/],
    ["elsewhere", 1, /redirect \(307\) that is not followed: it leads to another place/],
  ])("fails a stage whose request is answered like this: %s, and says why", async (how, requests, words) => {
    const path = await file(`${how}.dot`, "digraph { start -> a -> exit a [prompt=x] }");
    const ran = await conformanceWith({ OPENAI_BASE_URL: baseUrl.replace("/v1", `/${how}`) }, "run", path);
    expect(ran).toMatchObject({ code: 1, json: { status: "fail" } });
    expect(JSON.stringify(ran.json)).toMatch(words);
    expect(oddRequests.filter((one) => one === how)).toHaveLength(requests);
  });

  it.each([
    ["never", "no answer within 0.2 s"],
    ["stops", "the answer stopped for 0.2 s"],
  ])("gives up a request that is answered like this: %s, as something that may pass", async (how, words) => {
    const agent = fileURLToPath(new URL("../../dist/responses-agent.js", import.meta.url));
    const limits = { RATCHET_FIRST_BYTE_SECONDS: "0.2", RATCHET_SILENCE_SECONDS: "0.2" };
    const env = { ...process.env, ...limits, OPENAI_BASE_URL: baseUrl.replace("/v1", `/${how}`) };
    const ended = await new Promise((resolve) => {
      const run = execFile(process.execPath, [agent], { env, timeout: 20_000 }, (error, _, stderr) => {
        resolve([error?.code, stderr]);
      });
      run.stdin?.end("hi");
    });
    expect(ended).toEqual([75, expect.stringContaining(words)]);
  });
});
