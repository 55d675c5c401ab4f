import { createHash, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { ExternalError, messageOf, Refusal, UserError } from "../lib/errors.js";

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
  /** Not signed with the secret, or no webhook of a repository. */
  { readonly type: "refused" } | { readonly type: "heard"; readonly pullRequests: readonly number[] };

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
  routes.use(bodyLimit({ maxSize: longestBody, onError: (c) => refuse(c, 413, "the body is too large") }));
  routes.use(async (c, next) => {
    if (c.req.path === webhooks && c.req.method === "POST") return await next();
    if (isTheToken(c.req.header("authorization"), token)) return await next();
    c.header("www-authenticate", "Bearer");
    return refuse(c, 401, "the token is missing or wrong: send it as Authorization: Bearer <token>");
  });
  routes.get("/", (c) => c.text(welcome));
  routes.get("/healthz", (c) => c.json({ ok: true }));
  routes.get("/api/status", async (c) => c.json(asJson(await rooms.status())));
  routes.get("/api/pull-requests", async (c) => c.json(asJson(await rooms.pullRequests())));
  routes.post("/api/answer", async (c) => c.json(asJson(await rooms.answer(readAnswer(await c.req.text())))));
  routes.post(webhooks, (c) => takeWebhook(c, rooms));
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

async function takeWebhook(c: Context, { hear }: Rooms): Promise<Response> {
  if (hear === null) return refuse(c, 503, "webhooks are not taken: RATCHET_WEBHOOK_SECRET is not set");
  if (!/^application\/json\b/i.test(c.req.header("content-type") ?? "")) {
    return refuse(c, 415, "set the content type of the webhook to application/json");
  }
  const heard = await hear({ headers: c.req.header(), body: await c.req.text() });
  if (heard.type === "refused") return refuse(c, 401, "it is not signed with the secret");
  return c.json({ pull_requests: heard.pullRequests }, 202);
}

function readAnswer(text: string): GivenAnswer {
  const { gate, option, feedback } = fieldsOf(text);
  if (typeof gate !== "string" || typeof option !== "string") {
    throw new UserError('an answer is {"gate": …, "option": …, "feedback": …}');
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
  if (error instanceof UserError) return c.json({ error: { code, message, hint } }, 400);
  if (error instanceof Refusal) return c.json({ error: { code, message, hint } }, code === "not-found" ? 404 : 409);
  told(`${c.req.method} ${c.req.path}: ${message}`);
  return c.json({ error: { code, message, hint } }, error instanceof ExternalError ? 502 : 500);
}

type Refused = 401 | 404 | 413 | 415 | 503;
function refuse(c: Context, status: Refused, message: string): Response {
  return c.json({ error: { code: "refused", message, hint: null } }, status);
}

/** What was made for printing is plain data; anything else would be a mistake to send. */
function asJson(value: unknown): object {
  return typeof value === "object" && value !== null ? value : { value };
}
