import type { PullRequests } from "../../app.js";
import type { Settings } from "../../core/settings.js";
import { UserError } from "../../lib/errors.js";
import { toPullRequestJson } from "../../views/pull-requests.js";
import { listen } from "../../web/listen.js";
import type { Rooms } from "../../web/routes.js";
import { keepToken } from "../../web/token.js";
import type { Context } from "../context.js";
import { recordAnswer } from "./answer.js";
import { readStatus } from "./status.js";

/** `ratchet serve`: listens and follows until a signal comes. */
export async function serve(context: Context, { port }: { readonly port: string }): Promise<number> {
  const { app, out } = context;
  const wanted = portOf(port);
  const { settings } = await app.settings({});
  const pullRequests = await app.pullRequests(settings);
  const token = await keepToken(app.home.serveToken);
  const stop = stopOnSignals(process);
  const server = await listen(roomsOf(context, pullRequests), { port: wanted, token });
  try {
    const follower = await startFollowing(context, { settings, pullRequests, stop: stop.signal });
    out.line(`listening on ${server.url}, for this machine alone`);
    // Its owner is meant to see it here.
    out.piece(`token: ${token}\n`);
    out.line(`  the same at every start: ${app.home.serveToken}`);
    await stop.came;
    await follower?.done;
  } finally {
    await server.close();
    stop.close();
  }
  return 0;
}

async function startFollowing(
  { out }: Context,
  {
    settings,
    pullRequests,
    stop,
  }: { readonly settings: Settings; readonly pullRequests: PullRequests; readonly stop: AbortSignal },
) {
  if (settings.finalize.mode !== "pr") {
    out.line("no pull requests are followed: finalize.mode is not pr");
    return null;
  }
  return await pullRequests.follow(stop, (text) => out.note(text));
}

function roomsOf(context: Context, pullRequests: PullRequests): Rooms {
  const { env, out } = context;
  const secret = env.RATCHET_WEBHOOK_SECRET ?? "";
  if (secret === "") out.note("webhooks are not taken: RATCHET_WEBHOOK_SECRET is not set");
  return {
    status: () => readStatus(context, {}),
    pullRequests: async () => (await pullRequests.list()).map(toPullRequestJson),
    answer: (given) => recordAnswer(context, given),
    hear: secret === "" ? null : pullRequests.ears(secret),
    told: (text) => out.note(text),
  };
}

function portOf(typed: string): number {
  const port = /^\d{1,5}$/.test(typed) ? Number(typed) : -1;
  if (port >= 0 && port <= 65_535) return port;
  throw new UserError(`${typed} is no port`, { hint: "ratchet serve --port 7311" });
}

interface Stop {
  readonly signal: AbortSignal;
  readonly came: Promise<void>;
  close(): void;
}

/** The first signal ends it in order, the second at once. */
function stopOnSignals(host: NodeJS.Process): Stop {
  const stop = new AbortController();
  const came = new Promise<void>((resolve) => stop.signal.addEventListener("abort", () => resolve()));
  const onSignal = () => {
    if (stop.signal.aborted) host.exit(130);
    stop.abort();
  };
  host.on("SIGINT", onSignal);
  host.on("SIGTERM", onSignal);
  return {
    signal: stop.signal,
    came,
    close: () => {
      host.off("SIGINT", onSignal);
      host.off("SIGTERM", onSignal);
    },
  };
}
