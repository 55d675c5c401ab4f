import type { Shapes } from "./shapes.js";
import type { Person, State } from "./state.js";

/** One request as a route sees it. */
export interface Asked {
  readonly state: State;
  readonly shapes: Shapes;
  readonly who: Person;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  readonly tell: (event: string, payload: Readonly<Record<string, unknown>>) => void;
}
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** How many items there are in all: the server makes the Link header of it. */
  readonly total?: number;
}
export type Route = (asked: Asked) => Answer | Promise<Answer>;

export function ok(body: unknown, status = 200): Answer {
  return { status, body };
}

/** An answer that is no success. */
export class Refused extends Error {
  readonly answer: Answer;
  constructor(status: number, message: string, errors?: readonly unknown[]) {
    super(message);
    const docs = { documentation_url: "https://docs.github.com/rest", status: String(status) };
    this.answer = { status, body: { message, ...(errors ? { errors } : {}), ...docs } };
  }
}

export function notFound(): Refused {
  return new Refused(404, "Not Found");
}

export function pageOf<T>(query: URLSearchParams, list: readonly T[]): { readonly page: T[]; readonly total: number } {
  const size = Math.min(Number(query.get("per_page") ?? 30), 100);
  const from = (Number(query.get("page") ?? 1) - 1) * size;
  return { page: list.slice(from, from + size), total: list.length };
}

export function text(value: unknown, fallback = ""): string {
  return typeof value === "string" ? value : fallback;
}
export function optional(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
export function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
export function count(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
