import type { PrIdentity, PrState } from "../core/pull-request/state.js";
import { pullRequestMachineId } from "../run/context.js";

interface Followed {
  readonly pr: PrIdentity;
  readonly state: PrState | null;
}
interface Ears {
  readonly followed: () => Promise<readonly Followed[]>;
  readonly isTold: (machine: string) => Promise<boolean>;
  readonly tell: (machine: string) => Promise<void>;
}

export interface SignedWebhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}
export type Heard =
  | { readonly type: "unsigned" | "malformed"; readonly reason: string }
  /** Of those that are followed, the ones it was about. */
  | { readonly type: "heard"; readonly pullRequests: readonly number[] };

/** As many deliveries as are remembered; one that is forgotten costs a look that finds nothing. */
const remembered = 1000;

/**
 * A webhook says no more than "look there", so one that comes twice, late or not at all changes nothing. Deliveries are
 * remembered to save looks, not to be right.
 */
export function openEars(ears: Ears, secret: string): (webhook: SignedWebhook) => Promise<Heard> {
  const deliveries = new Map<string, readonly number[]>();
  return async (webhook) => {
    const { readWebhook } = await import("../forge/github/webhook.js");
    const read = await readWebhook({ ...webhook, secret });
    if (read.type !== "notice") return read;
    const { notice } = read;
    const before = deliveries.get(notice.delivery);
    if (before !== undefined) return { type: "heard", pullRequests: before };
    const repo = notice.repo?.toLowerCase();
    const meant = (await ears.followed()).filter(
      ({ pr, state }) =>
        pr.repo.toLowerCase() === repo &&
        (notice.pullRequests.includes(pr.number) || (state !== null && notice.commits.includes(state.head))),
    );
    for (const { pr } of meant) await tellOnce(ears, pullRequestMachineId(pr.projectId, pr.number));
    const pullRequests = meant.map(({ pr }) => pr.number);
    deliveries.set(notice.delivery, pullRequests);
    for (const old of deliveries.keys()) if (deliveries.size > remembered) deliveries.delete(old);
    return { type: "heard", pullRequests };
  };
}

/** Whatever waits to be taken in leads to a look that comes after this. */
async function tellOnce({ isTold, tell }: Ears, machine: string): Promise<void> {
  if (!(await isTold(machine))) await tell(machine);
}
