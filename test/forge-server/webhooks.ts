import { createHmac, randomUUID } from "node:crypto";

interface Hook {
  readonly url: string;
  readonly secret: string;
}

/** Tells whoever wants to know, signed. Nobody's failure to listen is the forge's; a receiver that is down misses it. */
export class Webhooks {
  readonly #hooks: Hook[] = [];
  readonly #running = new Set<Promise<void>>();

  add(hook: Hook): void {
    this.#hooks.push(hook);
  }

  send(event: string, payload: Readonly<Record<string, unknown>>, times: number): void {
    const body = JSON.stringify(payload);
    const delivery = randomUUID();
    for (const hook of this.#hooks) {
      for (let round = 0; round < times; round++) {
        const sent = deliver(hook, { event, delivery, body }).finally(() => this.#running.delete(sent));
        this.#running.add(sent);
      }
    }
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

async function deliver(
  { url, secret }: Hook,
  { event, delivery, body }: { readonly event: string; readonly delivery: string; readonly body: string },
): Promise<void> {
  const signature = `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`;
  const headers = {
    "content-type": "application/json",
    "x-github-event": event,
    "x-github-delivery": delivery,
    "x-hub-signature-256": signature,
  };
  await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) }).then(
    (response) => response.arrayBuffer().then(() => undefined),
    () => undefined,
  );
}
