import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { plainLine } from "../core/plain-text.js";
import { ExternalError, messageOf, Refusal, UserError } from "../lib/errors.js";
import { jsonText } from "../lib/json-text.js";

/** What the server answers from. Each is what a command of the same name prints with --json. */
export interface Rooms {
  status(): Promise<unknown>;
  pullRequests(): Promise<unknown>;
  answer(given: GivenAnswer): Promise<unknown>;
  /** null: no secret is set, so nobody could be believed. */
  readonly hear: ((webhook: HeardWebhook) => Promise<Heard>) | null;
  /** For what belongs to no request. */
  told(text: string): void;
}
export interface GivenAnswer {
  readonly gate: string;
  readonly option: string;
  readonly feedback?: string;
}
export interface HeardWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export type Heard =
  | { readonly type: "unsigned" | "malformed"; readonly reason: string }
  | { readonly type: "heard"; readonly pullRequests: readonly number[] };

/** Far more than a webhook about a pull request takes; one that is larger is made up for by the next poll. */
const longestBody = 5 * 1024 * 1024;
const webhooks = "/webhooks/github";
const welcome = [
  "Ratchet serves here: GET /api/status, GET /api/pull-requests, POST /api/answer, GET /healthz,",
  "and webhooks of GitHub at POST /webhooks/github. There is no page to look at in this version.",
  "",
].join("\n");

/** Everything needs the token but webhooks, which are signed. */
export function createRoutes(rooms: Rooms, token: string): Hono {
  const routes = new Hono();
  routes.use(bodyLimit({ maxSize: longestBody, onError: (c) => tooLarge(c, rooms) }));
  routes.use(async (c, next) => {
    if (c.req.method === "POST" && [webhooks, `${webhooks}/`].includes(c.req.path)) return await next();
    if (isTheToken(c.req.header("authorization"), token)) return await next();
    c.header("www-authenticate", "Bearer");
    return refuse(c, 401, "the token is missing or wrong: send it as Authorization: Bearer <token>");
  });
  routes.get("/", (c) => c.text(welcome));
  routes.get("/healthz", (c) => send(c, { ok: true }));
  routes.get("/api/status", async (c) => send(c, await rooms.status()));
  routes.get("/api/pull-requests", async (c) => send(c, await rooms.pullRequests()));
  routes.post("/api/answer", async (c) => send(c, await rooms.answer(readAnswer(await c.req.text()))));
  // Whoever typed the address with a slash at its end means the same.
  routes.on("POST", [webhooks, `${webhooks}/`], (c) => takeWebhook(c, rooms));
  routes.notFound((c) => refuse(c, 404, `there is no ${c.req.method} ${c.req.path}`));
  routes.onError((error, c) => tell(error, c, rooms));
  return routes;
}

/** Compared by their hashes, so that neither length nor content shows in the time it takes. */
function isTheToken(header: string | undefined, token: string): boolean {
  const given = /^Bearer (.+)$/i.exec(header ?? "")?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token));
}

async function takeWebhook(c: Context, { hear, told }: Rooms): Promise<Response> {
  // Whoever set the webhook up sees it here when it does not come through.
  const turnAway = (status: Refused, reason: string) => {
    told(`a webhook was refused (${status}): ${reason}${nameOf(c)}`);
    return refuse(c, status, reason);
  };
  if (hear === null) return turnAway(503, "webhooks are not taken: RATCHET_WEBHOOK_SECRET is not set");
  if (!/^application\/json\b/i.test(c.req.header("content-type") ?? "")) {
    return turnAway(415, "set the content type of the webhook to application/json");
  }
  const heard = await hear({ headers: c.req.header(), body: await c.req.text() });
  if (heard.type === "heard") return send(c, { pull_requests: heard.pullRequests }, 202);
  return turnAway(heard.type === "unsigned" ? 401 : 400, heard.reason);
}

/** Anybody may have written these. */
function nameOf(c: Context): string {
  const named = ["x-github-event", "x-github-delivery"].flatMap((name) => c.req.header(name)?.slice(0, 100) ?? []);
  return named.length === 0 ? "" : ` [${plainLine(named.join(" "))}]`;
}

function readAnswer(text: string): GivenAnswer {
  const { gate, option, feedback } = fieldsOf(text);
  const isFeedback = feedback === undefined || feedback === null || typeof feedback === "string";
  if (typeof gate !== "string" || typeof option !== "string" || !isFeedback) {
    throw new UserError('an answer is {"gate": …, "option": …, "feedback": …}, each of them a text');
  }
  return { gate, option, ...(typeof feedback === "string" ? { feedback } : {}) };
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch (error) {
    if (error instanceof SyntaxError) throw new UserError("the body is no JSON");
    throw error;
  }
}

function tell(error: unknown, c: Context, { told }: Rooms): Response {
  const hint =
    error instanceof UserError || error instanceof Refusal || error instanceof ExternalError ? error.hint : null;
  const code = error instanceof UserError || error instanceof Refusal ? error.code : "failed";
  const message = messageOf(error);
  if (error instanceof UserError) return send(c, { error: { code, message, hint } }, 400);
  if (error instanceof Refusal) return send(c, { error: { code, message, hint } }, code === "not-found" ? 404 : 409);
  told(`${c.req.method} ${c.req.path}: ${message}`);
  return send(c, { error: { code, message, hint } }, error instanceof ExternalError ? 502 : 500);
}

type Refused = 400 | 401 | 404 | 413 | 415 | 503;
function refuse(c: Context, status: Refused, message: string): Response {
  return send(c, { error: { code: "refused", message, hint: null } }, status);
}

function tooLarge(c: Context, { told }: Rooms): Response {
  const reason = `the body is larger than ${longestBody / 1024 / 1024} MiB`;
  told(`${c.req.method} ${c.req.path} was refused (413): ${reason}${nameOf(c)}`);
  return refuse(c, 413, reason);
}

function send(c: Context, value: unknown, status: ContentfulStatusCode = 200): Response {
  return c.body(jsonText(value), status, { "content-type": "application/json" });
}
