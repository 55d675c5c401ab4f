import { ExternalError } from "../errors.js";
import type { Etags, Remembered } from "./etags.js";
import type { Place } from "./remote.js";
import { type Budget, type Call, type GithubOptions, Sender } from "./sender.js";

/**
 * GitHub's REST interface. Whatever is not a whole answer is an error: cut JSON, a page that fails, a time-out. Reading
 * is conditional where the answer is remembered: what has not changed costs nothing.
 */
export interface Github {
  readonly place: Place;
  /** What its errors are about. */
  readonly what: GithubOptions["what"];
  /** One object. */
  get<T>(call: Call, parse: Parse<T>): Promise<T>;
  /** All pages of a list. */
  list<T>(call: Call & ListCall, parse: Parse<T>): Promise<T[]>;
  /** One object, unless it still has this tag. */
  changed<T>(call: Call, etag: string | null, parse: Parse<T>): Promise<Changed<T>>;
  /** Makes or changes something; the answer's body, null where there is none. */
  send(call: Call): Promise<unknown>;
  /** The end of a text. */
  tail(call: Call, maxBytes: number): Promise<string>;
  /** As of the last answer. */
  budget(): Budget | null;
}

/** Foreign data in, what of it is known out. What it returns is remembered, and read by it again. */
type Parse<T> = (data: unknown) => T;
interface ListCall {
  /** Where a page has its items, if it is not a list itself. */
  readonly items?: string;
}
/** `at`: the forge's own time. */
export type Changed<T> =
  | { readonly type: "unchanged"; readonly at: number }
  | { readonly type: "changed"; readonly at: number; readonly etag: string | null; readonly value: T };

const pageSize = 100;

export function openGithub(options: GithubOptions, etags: Etags | null = null): Github {
  const sender = new Sender(options);
  const { place, what } = options;
  const read = async <T>(call: Call, parse: Parse<T>): Promise<{ value: T; next: string | null }> => {
    const url = await sender.urlOf(call);
    const found = etags?.get(url) ?? null;
    const known = found === null || isFullToTheEnd(found) ? null : recall(found, parse);
    const { status, data, headers } = await sender.send({ call, etag: known?.etag ?? null });
    if (status === 304 && known) return known;
    const value = parse(data);
    const next = nextLink(headers.link);
    if (headers.etag !== undefined) etags?.set(url, { etag: headers.etag, next, body: value });
    return { value, next };
  };
  const list = async <T>({ items, ...call }: Call & ListCall, parse: Parse<T>): Promise<T[]> => {
    const parsePage = (data: unknown): T[] => itemsOf(data, items).map(parse);
    const itemsOf = (data: unknown, key: string | undefined): unknown[] => {
      const found = Array.isArray(data) || key === undefined ? data : fieldOf(data, key);
      if (Array.isArray(found)) return found;
      throw new ExternalError(what, `${call.route}: the answer is not a list`, { retryable: true });
    };
    const all: T[] = [];
    let page = await read({ ...call, with: { per_page: pageSize, ...call.with } }, parsePage);
    for (;;) {
      all.push(...page.value);
      if (page.next === null) return all;
      if (!page.next.startsWith(`${place.apiUrl}/`)) {
        throw new ExternalError(what, `${call.route}: the next page is at another address: ${page.next}`);
      }
      page = await read({ ...call, with: {}, route: `GET ${page.next}` }, parsePage);
    }
  };
  return {
    place,
    what,
    list,
    get: async (call, parse) => (await read(call, parse)).value,
    changed: async (call, etag, parse) => {
      const { status, data, headers } = await sender.send({ call, etag });
      const at = Date.parse(headers.date ?? "") || Date.now();
      if (status === 304) return { type: "unchanged", at };
      return { type: "changed", at, etag: headers.etag ?? null, value: parse(data) };
    },
    send: async (call) => (await sender.send({ call })).data,
    tail: async (call, tailBytes) => String((await sender.send({ call, tailBytes })).data),
    budget: () => sender.budget,
  };
}

/** null: it lacks what is read now, being an older version's. Its tag would bring the same again. */
function recall<T>(
  { etag, next, body }: Remembered,
  parse: Parse<T>,
): { value: T; next: string | null; etag: string } | null {
  try {
    return { value: parse(body), next, etag };
  } catch (error) {
    if (error instanceof ExternalError) return null;
    throw error;
  }
}

/** Whether another page has come behind it the page itself does not tell: its tag is that of its own items. */
function isFullToTheEnd({ body, next }: Remembered): boolean {
  return next === null && Array.isArray(body) && body.length >= pageSize;
}

function fieldOf(data: unknown, key: string): unknown {
  return typeof data === "object" && data !== null ? Object.entries(data).find(([name]) => name === key)?.[1] : null;
}

/** The address of the next page in a Link header. */
function nextLink(header: string | undefined): string | null {
  return /<([^<>]+)>;[^,]*\brel="next"/.exec(header ?? "")?.[1] ?? null;
}
