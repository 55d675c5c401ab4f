import type { Octokit } from "@octokit/core";
import { systemClock } from "../clock.js";
import { messageOf } from "../errors.js";
import { openDeadline } from "./deadline.js";
import { type Failure, GithubError, nextStep, type WaitReason } from "./failure.js";
import { isPublic, type Place } from "./remote.js";
import { readTail } from "./tail.js";
import { openTurnstile } from "./turnstile.js";

export interface Call {
  /** `GET /repos/{owner}/{repo}/…`; owner and repo are known. */
  readonly route: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal | undefined;
  /** Doing it twice is the same as doing it once; if not said: everything but POST. */
  readonly repeatable?: boolean;
}

export interface GithubOptions {
  readonly place: Place;
  readonly token: string;
  readonly userAgent: string;
  /** What the errors are about. */
  readonly what: "forge" | "tracker";
  readonly onWait?: (wait: Wait) => void;
  /** For one request. */
  readonly timeoutMs?: number;
  readonly backoffMs?: readonly number[];
  readonly clock?: Pick<typeof systemClock, "now" | "sleep">;
}
export interface Wait {
  readonly reason: WaitReason;
  readonly until: number;
  /** Method and path. */
  readonly call: string;
}

export interface Budget {
  readonly left: number;
  readonly resetsAt: number;
}
export interface Answer {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Headers;
}
type Headers = Readonly<Record<string, string | undefined>>;
export interface Sending {
  readonly call: Call;
  /** Nothing is wanted if it still has this tag. */
  readonly etag?: string | null;
  /** A text is wanted, and only so much of its end. */
  readonly tailBytes?: number;
}

const atOnce = 10;
/** What GitHub asks of clients that write; its own limits punish them otherwise. */
const writeGapMs = 1000;
/** A write that has been sent may be done: whoever stops it first lets it come to its end. */
const writeGraceMs = 700;
const defaultTimeoutMs = 30_000;
const defaultBackoffMs = [500, 2000];

/**
 * One request after the other way of failing: limits are waited for, and while one holds nothing else is sent either;
 * outages are tried again where that is safe. Every wait ends with the caller's signal.
 */
export class Sender {
  readonly #options: GithubOptions;
  readonly #clock: Pick<typeof systemClock, "now" | "sleep">;
  readonly #reading = openTurnstile(atOnce);
  readonly #writing = openTurnstile(1);
  #octokit: Promise<Octokit> | null = null;
  #blockedUntil = 0;
  #nextWriteAt = 0;
  #budget: Budget | null = null;

  constructor(options: GithubOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get budget(): Budget | null {
    return this.#budget;
  }

  async urlOf(call: Call): Promise<string> {
    return (await this.#load()).request.endpoint(call.route, this.#parameters(call)).url;
  }

  async send(sending: Sending): Promise<Answer> {
    const { call } = sending;
    const isWrite = !isRead(call);
    const line = isWrite ? this.#writing : this.#reading;
    return await line(() => this.#sendUntilAnswered(sending, isWrite), call.signal);
  }

  async #sendUntilAnswered(sending: Sending, isWrite: boolean): Promise<Answer> {
    const { call } = sending;
    const { backoffMs = defaultBackoffMs, what, place } = this.#options;
    const repeatable = call.repeatable ?? !call.route.startsWith("POST ");
    for (let [outages, limits] = [0, 0]; ; ) {
      await this.#sleep(Math.max(this.#blockedUntil, isWrite ? this.#nextWriteAt : 0), call.signal);
      const outcome = await this.#attempt(sending);
      if (isWrite && isPublic(place)) this.#nextWriteAt = this.#clock.now() + writeGapMs;
      if (outcome.type === "answer") return outcome.answer;
      const { failure, cause } = outcome;
      const next = nextStep(failure, { now: this.#clock.now(), repeatable, outages, limits, backoffMs });
      if (next.type === "give-up") {
        const unsure = next.retryable && isWrite && (failure.status === null || failure.status >= 500);
        throw new GithubError(what, nameOf(call, place), { failure, retryable: next.retryable, unsure, cause });
      }
      this.#options.onWait?.({ reason: next.reason, until: next.until, call: nameOf(call, place) });
      if (next.reason === "outage") {
        outages++;
        await this.#sleep(next.until, call.signal);
      } else {
        limits++;
        this.#blockedUntil = Math.max(this.#blockedUntil, next.until);
      }
    }
  }

  async #sleep(until: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (until <= this.#clock.now()) return;
    try {
      await this.#clock.sleep(until, signal);
    } finally {
      // Whoever stopped it hears his own word.
      signal?.throwIfAborted();
    }
  }

  async #attempt(sending: Sending): Promise<Attempt> {
    const { signal } = sending.call;
    const { timeoutMs = defaultTimeoutMs } = this.#options;
    const deadline = openDeadline(timeoutMs, signal, isRead(sending.call) ? 0 : writeGraceMs);
    try {
      const answer = await this.#ask(sending, deadline.signal);
      this.#note(answer.headers);
      return { type: "answer", answer };
    } catch (error) {
      signal?.throwIfAborted();
      const failure: Failure = deadline.isOver()
        ? { status: null, message: `no answer within ${timeoutMs / 1000} s`, headers: {}, timedOut: true }
        : failureOf(error);
      this.#note(failure.headers);
      return { type: "failed", failure, cause: error };
    } finally {
      deadline.close();
    }
  }

  async #ask({ call, etag = null, tailBytes }: Sending, signal: AbortSignal): Promise<Answer> {
    const octokit = await this.#load();
    const isText = tailBytes !== undefined;
    const request = { signal, log: silent, parseSuccessResponseBody: !isText };
    const headers = etag === null ? {} : { "if-none-match": etag };
    try {
      const parameters = { ...this.#parameters(call), headers, request };
      const answer = await octokit.request(call.route, parameters);
      const data: unknown = answer.data;
      if (isText) return { ...toAnswer(answer), data: await readTail(data, tailBytes) };
      if (answer.status !== 204 && (typeof data !== "object" || data === null)) throw new CutShort();
      return { ...toAnswer(answer), data: answer.status === 204 ? null : data };
    } catch (error) {
      const answer = answerOf(error);
      if (answer?.status === 304) return { ...answer, data: null };
      throw error;
    }
  }

  #load(): Promise<Octokit> {
    const { place, token, userAgent } = this.#options;
    this.#octokit ??= import("@octokit/core").then(
      (loaded) => new loaded.Octokit({ auth: token, baseUrl: place.apiUrl, userAgent }),
    );
    return this.#octokit;
  }

  #parameters(call: Call): Record<string, unknown> {
    const { owner, name: repo } = this.#options.place;
    // An address that a page gave is complete.
    return /^\w+ \//.test(call.route) ? { ...namedIn(call.route, { owner, repo }), ...call.with } : { ...call.with };
  }

  #note(headers: Headers): void {
    const [left, reset] = [headers["x-ratelimit-remaining"], headers["x-ratelimit-reset"]].map(Number);
    if (left === undefined || reset === undefined || Number.isNaN(left) || Number.isNaN(reset)) return;
    this.#budget = { left, resetsAt: reset * 1000 };
  }
}

function isRead({ route }: Call): boolean {
  return route.startsWith("GET ");
}

type Attempt =
  | { readonly type: "answer"; readonly answer: Answer }
  | { readonly type: "failed"; readonly failure: Failure; readonly cause: unknown };

/** A success whose body is not the JSON that was to come. */
class CutShort extends Error {
  override readonly message = "the answer is not whole JSON";
}

const quiet = (): undefined => undefined;
const silent = { debug: quiet, info: quiet, warn: quiet, error: quiet };

function namedIn(route: string, values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => route.includes(`{${name}}`)));
}

/** Method and path, as a person would write it. */
export function nameOf({ route, with: given = {} }: Call, { owner, name: repo }: Place): string {
  const values: Readonly<Record<string, unknown>> = { owner, repo, ...given };
  return route.replace(/^(\w+) https?:\/\/[^/]+/, "$1 ").replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : whole;
  });
}

function toAnswer({ status, headers }: { status: number; headers: object }): Answer {
  const texts = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return { status, headers: Object.fromEntries(texts), data: null };
}

/** The answer that an error is about, if the forge gave one. */
function answerOf(error: unknown): Answer | null {
  if (!(error instanceof Error) || !("response" in error)) return null;
  const { response } = error;
  if (typeof response !== "object" || response === null) return null;
  if (!("status" in response) || typeof response.status !== "number") return null;
  if (!("headers" in response) || typeof response.headers !== "object" || response.headers === null) return null;
  return toAnswer({ status: response.status, headers: response.headers });
}

function failureOf(error: unknown): Failure {
  const answer = answerOf(error);
  if (answer) return { status: answer.status, message: messageOf(error), headers: answer.headers, timedOut: false };
  const message = error instanceof CutShort ? error.message : `no answer: ${messageOf(error)}`;
  return { status: null, message, headers: {}, timedOut: false };
}
