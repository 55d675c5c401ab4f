import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Answer, type Asked, notFound, ok, Refused, type Route } from "./answer.js";
import { checkRoutes } from "./checks.js";
import { type Fault, Faults } from "./faults.js";
import { issueRoutes } from "./issues.js";
import { pullRoutes } from "./pulls.js";
import { reviewRoutes } from "./reviews.js";
import { Shapes } from "./shapes.js";
import { type Person, State } from "./state.js";
import { Webhooks } from "./webhooks.js";

/**
 * A forge of its own, over HTTP and a real bare repository, that speaks GitHub's REST interface as far as Ratchet uses
 * it. It keeps its own account of who said what, answers lists in pages, tags every answer, counts what is asked, and
 * fails on request. Other programs reach the faults by `POST /_admin/faults` and `DELETE /_admin/faults`.
 */
export interface ForgeServer {
  readonly url: string;
  readonly state: State;
  /** Every request, in the order of the answers; status 0: dropped. */
  readonly seen: readonly Seen[];
  readonly faults: Faults;
  /** Somebody with an account and a token. */
  person(login: string, association?: string): Speaker;
  hook(url: string, secret: string): void;
  webhooksSettled(): Promise<void>;
  close(): Promise<void>;
}
export interface Seen {
  readonly route: string;
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}
export interface Speaker extends Person {
  /** Throws on anything but a success. */
  send(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

const ownRoutes: Readonly<Record<string, Route>> = {
  "GET /user": ({ shapes, who }) => ok(shapes.account(who.login)),
  "GET /repos/{owner}/{repo}": ({ shapes }) => ok(shapes.repository()),
};
const routes = Object.entries({ ...ownRoutes, ...pullRoutes, ...reviewRoutes, ...issueRoutes, ...checkRoutes }).map(
  ([name, route]) => ({ name, route, matches: matcherOf(name) }),
);
const hourlyLimit = 5000;

function matcherOf(name: string): (method: string, path: string) => Record<string, string> | null {
  const [method = "", template = ""] = name.split(" ");
  // A branch may have slashes in its name.
  const pattern = template.replace(/\{(\w+)\}/g, (_, key: string) =>
    key === "branch" ? `(?<${key}>.+)` : `(?<${key}>[^/]+)`,
  );
  const expression = new RegExp(`^${pattern}$`);
  return (asked, path) => {
    const match = asked === method ? expression.exec(path) : null;
    if (!match) return null;
    return Object.fromEntries(
      Object.entries(match.groups ?? {}).map(([key, value]) => [key, decodeURIComponent(value)]),
    );
  };
}

export async function startForge(options: { readonly repo: string; readonly gitDir: string }): Promise<ForgeServer> {
  const [owner = "", name = ""] = options.repo.split("/");
  const forge = new Forge(new State(owner, name, options.gitDir));
  await forge.listen();
  return forge;
}

class Forge implements ForgeServer {
  readonly state: State;
  readonly faults = new Faults();
  readonly seen: Seen[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));
  readonly #webhooks = new Webhooks();
  #used = 0;
  #url = "";

  constructor(state: State) {
    this.state = state;
  }

  get url(): string {
    return this.#url;
  }

  async listen(): Promise<void> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    // A server that listens on a port has an address with one.
    const { port } = this.#server.address() as AddressInfo;
    this.#url = `http://127.0.0.1:${port}`;
  }

  person(login: string, association = "MEMBER"): Speaker {
    const person = this.state.addPerson(login, association);
    const send = async (method: string, path: string, body?: unknown) => {
      const { owner, name } = this.state.repo;
      const response = await fetch(`${this.#url}/repos/${owner}/${name}${path}`, {
        method,
        headers: { authorization: `Bearer ${person.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      const value: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
      return value;
    };
    return { ...person, send };
  }

  hook(url: string, secret: string): void {
    this.#webhooks.add({ url, secret });
  }

  webhooksSettled(): Promise<void> {
    return this.#webhooks.settled();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await this.#webhooks.settled();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.#url);
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      // Whoever went away before all was said has asked nothing.
      return;
    }
    const text = Buffer.concat(chunks).toString();
    if (url.pathname.startsWith("/_")) return this.#serveOwn(request.method ?? "", url, { text, response });
    const { name, answer, fault } = await this.#answer(request, url, text);
    if (fault?.kind === "delay") await delayed(fault.ms ?? 40_000, response);
    const note = (status: number) => {
      this.seen.push({ route: name, path: `${url.pathname}${url.search}`, status, body: answer.body });
    };
    if (fault?.kind === "drop") {
      note(0);
      return void request.socket.destroy();
    }
    note(this.#send(response, { request, url, answer, isCut: fault?.kind === "truncate" }));
  }

  /** What no forge has: faults from outside, and where the logs lie. */
  #serveOwn(method: string, url: URL, { text, response }: { text: string; response: ServerResponse }): void {
    const log = this.state.repo.logs.get(Number(url.pathname.replace("/_logs/", "")));
    if (url.pathname.startsWith("/_logs/") && log !== undefined) {
      response.setHeader("content-type", "text/plain").end(log);
      return;
    }
    if (url.pathname !== "/_admin/faults") return void response.writeHead(404).end();
    if (method === "DELETE") this.faults.clear();
    else this.faults.add(JSON.parse(text) as Fault);
    response.writeHead(204).end();
  }

  async #answer(
    request: IncomingMessage,
    url: URL,
    text: string,
  ): Promise<{ name: string; answer: Answer; fault: Fault | null }> {
    const method = request.method ?? "";
    for (const { name, route, matches } of routes) {
      const params = matches(method, url.pathname);
      if (params === null) continue;
      const fault = this.faults.take(name, Number(url.searchParams.get("page") ?? 1));
      const refusal = fault === null ? null : this.#refusal(fault);
      if (refusal && !fault?.after) return { name, answer: refusal, fault };
      if (fault?.kind === "drop" && !fault.after) return { name, answer: ok(null), fault };
      const answer = await this.#perform(route, { request, params, query: url.searchParams, text });
      return { name, answer: refusal ?? answer, fault };
    }
    return { name: `${method} ?`, answer: notFound().answer, fault: null };
  }

  #refusal({ kind, status = 502, ms = 1000, body = {} }: Fault): Answer | null {
    if (kind === "unheard") return ok(body);
    const reset = String(Math.ceil((this.state.now() + ms) / 1000));
    if (kind === "status") return { status, body: { message: `made to fail with ${status}` } };
    if (kind === "secondary-limit") {
      const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
      return { status: 403, body: { message }, headers: { "retry-after": String(Math.ceil(ms / 1000)) } };
    }
    if (kind !== "rate-limit") return null;
    const headers = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset };
    return { status: 403, body: { message: "API rate limit exceeded" }, headers };
  }

  async #perform(
    route: Route,
    asked: { request: IncomingMessage; params: Record<string, string>; query: URLSearchParams; text: string },
  ): Promise<Answer> {
    const { request, params, query, text } = asked;
    const token = /^(?:token|bearer) (.+)$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const who = this.state.people.get(token);
    if (!who) return new Refused(401, "Bad credentials").answer;
    const { owner, name } = this.state.repo;
    if (params.owner !== undefined && `${params.owner}/${params.repo}` !== `${owner}/${name}`) return notFound().answer;
    const body: Asked["body"] = text === "" ? {} : JSON.parse(text);
    const shapes = new Shapes(this.state, this.#url);
    const tell: Asked["tell"] = (event, payload) => {
      const times = this.faults.take(event, 1, true) ? 2 : 1;
      this.#webhooks.send(
        event,
        { ...payload, repository: shapes.repository(), sender: shapes.user(who.login) },
        times,
      );
    };
    try {
      return await route({ state: this.state, shapes, who, params, query, body, tell });
    } catch (error) {
      if (error instanceof Refused) return error.answer;
      throw error;
    }
  }

  #send(
    response: ServerResponse,
    { request, url, answer, isCut }: { request: IncomingMessage; url: URL; answer: Answer; isCut: boolean },
  ): number {
    const text = answer.body === null ? "" : JSON.stringify(answer.body);
    const etag = `W/"${createHash("sha256").update(text).digest("hex")}"`;
    const isSame = answer.status === 200 && request.headers["if-none-match"] === etag;
    if (!isSame) this.#used++;
    const status = isSame ? 304 : answer.status;
    response.writeHead(status, {
      date: new Date(this.state.now()).toUTCString(),
      "x-ratelimit-limit": hourlyLimit,
      "x-ratelimit-remaining": Math.max(0, hourlyLimit - this.#used),
      "x-ratelimit-used": this.#used,
      "x-ratelimit-reset": Math.ceil(this.state.now() / 1000) + 3600,
      ...(answer.status === 200 && request.method === "GET" ? { etag } : {}),
      ...(answer.total === undefined ? {} : linkHeader(url, answer.total)),
      ...(text === "" ? {} : { "content-type": "application/json; charset=utf-8" }),
      ...answer.headers,
    });
    response.end(isSame ? "" : isCut ? text.slice(0, text.length / 2) : text);
    return status;
  }
}

function linkHeader(url: URL, total: number): Record<string, string> {
  const size = Math.min(Number(url.searchParams.get("per_page") ?? 30), 100);
  const [page, last] = [Number(url.searchParams.get("page") ?? 1), Math.max(1, Math.ceil(total / size))];
  if (page >= last) return {};
  const at = (to: number) => {
    const other = new URL(url);
    other.searchParams.set("page", String(to));
    return other.href;
  };
  return { link: `<${at(page + 1)}>; rel="next", <${at(last)}>; rel="last"` };
}

/** Ends early when nobody waits any more. */
function delayed(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
