import { setTimeout as wait } from "node:timers/promises";
import { GithubError } from "./failure.js";

const tries = 3;

/**
 * Makes something that must be there once. It is looked for first, and again whenever nobody knows whether a try to
 * make it has worked.
 */
export async function createOnce<T>(
  { find, create }: { readonly find: () => Promise<T | null>; readonly create: () => Promise<T> },
  signal?: AbortSignal,
): Promise<T> {
  for (let failures = 1; ; failures++) {
    const found = await find();
    if (found !== null) return found;
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof GithubError) || !error.unsure || failures >= tries) throw error;
      await wait(500 * failures, undefined, signal ? { signal } : {});
    }
  }
}
