import type { Obstacle } from "../../core/ports/forge.js";
import type { Github } from "../../lib/github-client/client.js";
import { GithubError } from "../../lib/github-client/failure.js";
import * as wire from "./wire.js";

const readRepository = wire.reader(wire.repository, "the repository");

/** Only what GitHub says itself counts: one that cannot be reached now may be back when the work is done. */
export async function findObstacle(github: Github, signal?: AbortSignal): Promise<Obstacle | null> {
  try {
    await github.get({ route: "GET /repos/{owner}/{repo}", signal }, readRepository);
    return null;
  } catch (error) {
    if (!(error instanceof GithubError) || error.retryable || signal?.aborted) return null;
    const { message, hint } = error;
    return { message: `${github.place.repo} cannot be used: ${message}`, hint: hint ?? "ratchet doctor" };
  }
}
