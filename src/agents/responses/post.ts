import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";

/** A request whose every wait ends: to the first byte of the answer, between two of its bytes, and by its size. */
export interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly limits: Limits;
}
export interface Limits {
  readonly firstByteMs: number;
  readonly silenceMs: number;
}
export interface Answer {
  readonly status: number;
  readonly body: string;
  /** Where a redirect leads that was not followed, and why not. */
  readonly refused: string | null;
}

const mostRedirects = 3;
const redirects = [301, 302, 307, 308];
/** A text cannot be longer. */
const mostBytes = 500 * 1024 * 1024;

/** Redirects are followed within the same origin only: neither key nor prompt go to somebody else. */
export async function post(asked: Post): Promise<Answer> {
  let url = asked.url;
  for (let followed = 0; ; followed += 1) {
    const { status, body, location } = await send({ ...asked, url });
    if (!redirects.includes(status) || location === null) return { status, body, refused: null };
    const next = URL.canParse(location, url) ? new URL(location, url) : null;
    if (next?.origin !== new URL(url).origin)
      return { status, body, refused: `it leads to another place, ${location}` };
    if (followed === mostRedirects) return { status, body, refused: `it is one more after ${mostRedirects}` };
    url = next.href;
  }
}

interface Sent {
  readonly status: number;
  readonly body: string;
  readonly location: string | null;
}

function send({ url, headers, body, limits }: Post): Promise<Sent> {
  return new Promise((resolve, reject) => {
    const open = new URL(url).protocol === "https:" ? requestHttps : requestHttp;
    const length = Buffer.byteLength(body);
    const request = open(url, { method: "POST", headers: { ...headers, "content-length": length } });
    const begun = setTimeout(
      () => request.destroy(new Error(`no answer within ${limits.firstByteMs / 1000} s`)),
      limits.firstByteMs,
    );
    request.on("error", (error) => {
      clearTimeout(begun);
      reject(error);
    });
    request.once("response", (response) => {
      clearTimeout(begun);
      const { statusCode: status = 0, headers: told } = response;
      readAll(response, limits).then((text) => {
        resolve({ status, body: text, location: told.location ?? null });
      }, reject);
    });
    request.end(body);
  });
}

async function readAll(response: IncomingMessage, { silenceMs }: Limits): Promise<string> {
  const stop = () => response.destroy(new Error(`the answer stopped for ${silenceMs / 1000} s`));
  const silent = setTimeout(stop, silenceMs);
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response) {
      silent.refresh();
      if (!Buffer.isBuffer(chunk)) continue;
      bytes += chunk.length;
      if (bytes > mostBytes) throw new Error(`the answer is larger than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(silent);
  }
  return Buffer.concat(chunks).toString("utf8");
}
