import { project } from "../core/project.js";
import type { PrEffect } from "../core/pull-request/effects.js";
import type { PrEvent } from "../core/pull-request/events.js";
import { untrustedNamed } from "../core/pull-request/intake.js";
import type { PrIdentity, PrLife, PrState } from "../core/pull-request/state.js";
import type { RunReport } from "../core/report.js";
import type { Settings } from "../core/settings.js";
import { systemClock } from "../lib/clock.js";
import { Refusal } from "../lib/errors.js";
import type { Home } from "../lib/home.js";
import { redactor } from "../lib/redact.js";
import { pullRequestMachineId } from "../run/context.js";
import type { FollowContext } from "../run/pull-requests/context.js";
import {
  type Follower,
  followedPullRequests,
  followPullRequests,
  type Synced,
  syncPullRequest,
  syncPullRequests,
} from "../run/pull-requests/follow.js";
import { newestParts } from "../run/pull-requests/parts.js";
import type { Store } from "../store/store.js";
import { trackers } from "./adapters.js";
import { type AskedRework, askForRework, type WantedRework } from "./ask-for-rework.js";
import { loadForge } from "./forge.js";
import { inboxOf } from "./inbox.js";
import { warn } from "./warn.js";
import { type Heard, openEars, type SignedWebhook } from "./webhooks.js";

export interface PullRequestPlace {
  readonly store: Store;
  readonly settings: Settings;
  readonly projectId: string;
  readonly repoPath: string;
  readonly home: Home;
  readonly env: NodeJS.ProcessEnv;
}

/** The pull requests of a project as a person sees them from outside of a run. */
export interface PullRequests {
  list(): Promise<readonly PullRequestView[]>;
  sync(number: number | null, signal: AbortSignal): Promise<readonly Synced[]>;
  /** Issues and items whose work passed everything and could not be pushed; of one pull request, or all. */
  undelivered(number: number | null): Promise<readonly string[]>;
  /** The cycle's item; null: it was escalated instead. */
  rework(number: number, how: WantedRework): Promise<AskedRework>;
  /** What people who are not trusted have said, as it was last seen. */
  untrusted(): Promise<readonly UntrustedRemark[]>;
  /** Lets an untrusted remark through. */
  admit(id: string): Promise<number>;
  /** Follows all of them, and those that come, until it is stopped. Throws UserError where the forge is not set up. */
  follow(stop: AbortSignal, told: (text: string) => void): Promise<Follower>;
  /** Takes webhooks that are signed with the secret. */
  ears(secret: string): (webhook: SignedWebhook) => Promise<Heard>;
}
export interface PullRequestView {
  readonly pr: PrIdentity;
  /** null: it has not been looked at yet. */
  readonly state: PrState | null;
}

export interface UntrustedRemark {
  readonly number: number;
  readonly url: string;
  readonly id: string;
  readonly author: string;
  readonly text: string;
}

export function openPullRequests(place: PullRequestPlace): PullRequests {
  const follow = memoized(() => followContext(place));
  const views = async (): Promise<PullRequestView[]> => {
    const context = await looking(place);
    const prs = await followedPullRequests(context);
    return await Promise.all(
      prs.map(async (pr) => ({ pr, state: await context.state(pullRequestMachineId(pr.projectId, pr.number)) })),
    );
  };
  return {
    list: views,
    sync: async (number, signal) => {
      const context = await follow();
      const prs = await followedPullRequests(context);
      if (number === null) return await syncPullRequests(context, prs, signal);
      return [await syncPullRequest(context, named(prs, number), { signal, force: true, byHand: true })];
    },
    undelivered: (number) => undelivered(place, number),
    rework: async (number, how) => {
      const context = await follow();
      return await askForRework(context, named(await followedPullRequests(context), number), how);
    },
    untrusted: async () => (await Promise.all((await views()).map((view) => untrustedIn(place, view)))).flat(),
    admit: async (id) => {
      const { name, pr } = theUntrusted(await views(), id);
      await place.store.signal(pullRequestMachineId(pr.projectId, pr.number), { name: "admit", id: name });
      return pr.number;
    },
    follow: async (stop, told) => followPullRequests(await follow(), stop, told),
    ears: (secret) =>
      openEars(
        {
          followed: views,
          isTold: (machine) => place.store.hasSignals(machine),
          tell: async (machine) => void (await place.store.signal(machine, { name: "look" })),
        },
        secret,
      ),
  };
}

/** As far back as somebody would look for it; what is older a run finds when it comes to it. */
const recentRuns = 50;
async function undelivered({ store, projectId }: PullRequestPlace, number: number | null): Promise<string[]> {
  const found = new Set<string>();
  for (const { runId, record } of await store.runs(projectId, recentRuns)) {
    if (record.exit_code === 0) continue;
    for (const { issueId, record: issue } of await store.issueRecords(runId)) if (issue.undelivered) found.add(issueId);
  }
  const owed: string[] = [];
  for (const id of found) {
    // Issues of other trackers are not on the board before they have a pull request.
    const { payload, status } = (await store.workItems.get(projectId, id)) ?? { payload: null, status: "available" };
    const isMeant = status === "available" && (number === null || payload?.pr_number === number);
    if (isMeant && (await store.lastRecord(projectId, id))?.record.undelivered) owed.push(id);
  }
  return owed;
}

async function untrustedIn({ home }: PullRequestPlace, { pr, state }: PullRequestView): Promise<UntrustedRemark[]> {
  const waiting = Object.entries(state?.deliveries ?? {}).filter(([, { status }]) => status === "untrusted");
  if (waiting.length === 0) return [];
  const parts = await newestParts(home.pullRequest(pr.projectId, pr.number));
  return waiting.map(([id, { login }]) => {
    const { text, comment } = parts.get(id) ?? {};
    const said = comment ? `${comment.path}: ${comment.body}` : (text ?? "");
    return { number: pr.number, url: pr.url, id, author: login ?? "unknown", text: said };
  });
}

/** A bare number may be a comment's and an inline remark's alike: whoever lets one through says which. */
function theUntrusted(views: readonly PullRequestView[], typed: string) {
  const named = views.flatMap(({ pr, state }) =>
    untrustedNamed(state?.deliveries ?? {}, typed).map((name) => ({ pr, name })),
  );
  const exact = named.filter(({ name }) => name === typed);
  const [found, ...others] = exact.length > 0 ? exact : named;
  if (!found)
    throw new Refusal(`no untrusted comment ${typed} waits`, {
      code: "not-found",
      hint: "ratchet pr list --untrusted",
    });
  if (others.length === 0) return found;
  const which = [found, ...others].map(({ pr, name }) => `ratchet pr admit ${name}  (#${pr.number})`);
  throw new Refusal(`${typed} fits more than one remark`, { code: "ambiguous", hint: which.join("\n") });
}

function named(prs: readonly PrIdentity[], number: number): PrIdentity {
  const pr = prs.find((one) => one.number === number);
  if (pr) return pr;
  throw new Refusal(`pull request #${number} is not one that Ratchet follows`, {
    code: "not-found",
    hint: "ratchet pr list",
  });
}

/** What needs no forge, no token and no network. */
async function looking({
  store,
  projectId,
}: PullRequestPlace): Promise<Pick<FollowContext, "state" | "board" | "projectId">> {
  const state = async (machine: string) => {
    const view = await store.machineState(machine);
    return view === null ? null : (view.state as PrState);
  };
  return { state, board: store.workItems, projectId };
}

export async function followContext(place: PullRequestPlace): Promise<FollowContext> {
  const { store, settings, projectId, repoPath, home, env } = place;
  return {
    ...(await looking(place)),
    ...{ settings, home, clock: systemClock, redact: redactor(env) },
    forge: await loadForge(place, warn),
    tracker: await trackers[settings.tracker.type](place),
    inbox: inboxOf(store),
    letGo: (machine) => store.letGo(machine),
    isTold: (machine) => store.hasSignals(machine),
    ledger: async (issueId) => ({ issueId, findings: await store.findings({ projectId, issueId, all: true }) }),
    journal: (machine, issueId) =>
      store.log<PrLife, PrEvent, PrEffect, RunReport>({
        machine,
        kind: "pull-request",
        runId: machine,
        codec: {
          encode: (life) => life.state,
          decode: (state, findings) => ({ state: state as PrState, ledger: { issueId, findings } }),
          ledgerIssue: { projectId, issueId },
          rows: (event, life) => project(event, life.ledger).filter(({ table }) => table === "finding"),
        },
      }),
    dropWorktree: async (issueId, landed) => {
      const { openWorktrees } = await import("../run/worktrees.js");
      await openWorktrees({ home, projectId, repoPath, tell: warn }).drop(issueId, landed);
    },
  };
}

function memoized<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | null = null;
  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      // A failure is not remembered: the next who asks may find a token, or the network.
      made = null;
      throw error;
    }
  };
}
