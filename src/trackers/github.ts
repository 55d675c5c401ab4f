import type { Asker, Tracker } from "../core/ports/tracker.js";
import { isTrusted } from "../core/pull-request/trust.js";
import { askTracker } from "../lib/ask.js";
import { type Github, openGithub } from "../lib/github-client/client.js";
import type { Etags } from "../lib/github-client/etags.js";
import { rememberMe } from "../lib/github-client/me.js";
import type { GithubOptions } from "../lib/github-client/sender.js";
import { heardBy } from "./github/asked.js";
import { type Claims, openClaims } from "./github/claims.js";
import { openEpics } from "./github/epics.js";
import { writeFollowUp } from "./github/follow-up.js";
import { addLabels, changeIssue, type Found, findIssue, labels, toIssue } from "./github/issues.js";
import { type Notes, openNotes } from "./github/notes.js";
import { readReady } from "./github/ready.js";
import { readStanding } from "./github/standing.js";

export interface GithubTrackerOptions extends Omit<GithubOptions, "what"> {
  /** Associations or logins whose issues and claims count. */
  readonly trusted: readonly string[];
  readonly isOver?: (runId: string) => Promise<boolean>;
}

/**
 * Issues on GitHub. Labels, the assignee and comments tell what became of each; people and other programs read them
 * without Ratchet. Telling an end twice changes nothing.
 */
export function githubTracker(options: GithubTrackerOptions, etags: Etags | null = null): Tracker {
  const github = openGithub({ ...options, what: "tracker" }, etags);
  return openTracker({ options, github, me: rememberMe(github) }, null);
}

interface Parts {
  readonly options: GithubTrackerOptions;
  /** One for all who ask: limits are waited for together. */
  readonly github: Github;
  readonly me: ReturnType<typeof rememberMe>;
}

function openTracker(parts: Parts, asker: Asker | null): Tracker {
  const { trusted, isOver = null } = parts.options;
  const github = asker === null ? parts.github : heardBy(parts.github, asker);
  const me = () => askTracker("GET /user", asker, (signal) => parts.me(signal));
  const notes = openNotes(github, { me, isTrusted: (written) => isTrusted(trusted, written) });
  const claims = openClaims(github, { notes, me, isOver });
  const isWork = async ({ wire, labels: given }: Found): Promise<boolean> => {
    const login = wire.user?.login ?? null;
    if (given.includes(labels.admitted) || login === (await me())) return true;
    return isTrusted(trusted, { login, association: wire.author_association ?? "NONE" });
  };
  const giveUp = giveUpIn(github, claims, notes);
  return {
    kind: "github",
    askedBy: (other) => openTracker(parts, other),
    ready: (query) => readReady(github, query, { claims, me, isWork }),
    get: async (id) => {
      const found = await findIssue(github, id);
      return found === null ? null : toIssue(found);
    },
    standing: (id) => readStanding(github, id, { claims, me, isOver, isWork }),
    claim: (id, holder, how) => claims.claim(id, holder, { any: how?.any ?? false }),
    pass: claims.pass,
    complete: async (id, holder, { commit, note }) => {
      const found = await claims.held(id, holder, { isTold: (now) => now?.isOpen === false, orFree: true });
      if (found === null) return;
      const text = [note, commit === null ? "" : `Done in ${commit}.`].filter((each) => each !== "").join("\n\n");
      await notes.tell(id, { key: `done:${holder}`, text: text === "" ? "Done." : text });
      await changeIssue(github, id, { state: "closed", state_reason: "completed" });
      await claims.letGo(found, holder);
    },
    fail: (id, holder, reason) => giveUp(id, holder, { label: labels.failed, word: "failed", reason }),
    escalate: (id, holder, reason) => giveUp(id, holder, { label: labels.escalated, word: "needs a person", reason }),
    release: async (id, holder) => {
      const found = await claims.held(id, holder, { isTold: () => true });
      if (found === null) return;
      await addLabels(github, id, [labels.stopped]);
      await claims.letGo(found, holder);
    },
    epics: openEpics(github, { claims, notes, isWork }),
    followUp: async (source, text) => writeFollowUp(github, source, { text, me: await me() }),
  };
}

interface End {
  readonly label: string;
  readonly word: string;
  readonly reason: string;
}

/** Note and label first: until it is let go the issue is still held, so nobody sees it free and unmarked. */
function giveUpIn(
  github: Github,
  claims: Claims,
  notes: Notes,
): (id: string, holder: string, end: End) => Promise<void> {
  return async (id, holder, { label, word, reason }) => {
    const isTold = (now: Found | null) =>
      now?.isOpen === true && now.labels.includes(label) && !now.labels.includes(labels.claimed);
    const found = await claims.held(id, holder, { isTold });
    if (found === null) return;
    const text = `Ratchet run ${holder} ${word}: ${reason}\n\n\`ratchet logs show ${holder}\``;
    await notes.tell(id, { key: `${label}:${holder}`, text });
    await addLabels(github, id, [label]);
    await claims.letGo(found, holder);
  };
}
