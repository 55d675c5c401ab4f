/** What may go wrong, by route. Each is spent after `times`, or happens by chance for as long as it is set. */
export interface Fault {
  /** `GET /repos/{owner}/{repo}/…` as in the routes; none: all. */
  readonly route?: string;
  /** Only this page of a list. */
  readonly page?: number;
  readonly kind:
    | "delay"
    | "drop"
    | "unheard"
    | "status"
    | "truncate"
    | "secondary-limit"
    | "rate-limit"
    | "doubled-webhook";
  readonly status?: number;
  /** Of `unheard`: what is answered, with 200, and nothing is done. */
  readonly body?: unknown;
  readonly ms?: number;
  /** After it was done: only the answer is lost. */
  readonly after?: boolean;
  readonly times?: number;
  /** 0 … 1. */
  readonly chance?: number;
}

interface Set {
  readonly fault: Fault;
  left: number;
}

export class Faults {
  #set: Set[] = [];
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  add(fault: Fault): void {
    this.#set.push({ fault, left: fault.times ?? (fault.chance === undefined ? 1 : Number.POSITIVE_INFINITY) });
  }

  clear(): void {
    this.#set = [];
  }

  take(route: string, page: number, isWebhook = false): Fault | null {
    const hit = this.#set.find(({ fault, left }) => {
      if (left <= 0 || (fault.kind === "doubled-webhook") !== isWebhook) return false;
      if (fault.route !== undefined && fault.route !== route) return false;
      if (fault.page !== undefined && fault.page !== page) return false;
      return fault.chance === undefined || this.#random() < fault.chance;
    });
    if (!hit) return null;
    hit.left--;
    return hit.fault;
  }
}
