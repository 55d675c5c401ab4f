import { join } from "node:path";
import type { AgentPlace } from "../agents/place.js";
import { reviewerSource } from "../config/reviewer.js";
import type { Agent, Reviewer } from "../core/ports/agent.js";
import type { Tracker } from "../core/ports/tracker.js";
import type {
  AgentChoice,
  AgentKind,
  AgentSettings,
  ReviewerKind,
  ReviewerSettings,
  Settings,
} from "../core/settings.js";
import { UserError } from "../lib/errors.js";
import { type Home, safeName } from "../lib/home.js";
import type { Store } from "../store/store.js";
import { version } from "../version.js";
import { originOf } from "./forge.js";
import { withOneFollowUp } from "./one-follow-up.js";
import { packageRoot } from "./package-root.js";
import { warn } from "./warn.js";

// The only place that names concrete adapters, each loaded when it is used.

function programPath(name: string): string {
  return join(packageRoot(), "dist", name);
}

function placeIn(env: NodeJS.ProcessEnv): AgentPlace {
  const programs = {
    node: process.execPath,
    hook: programPath("hook.js"),
    piGuard: programPath("pi/pi-guard.js"),
    acp: programPath("acp.js"),
  };
  return { env, programs };
}

/** The tables are complete, so that the compiler finds a missing kind. */
const agents: Record<AgentKind, (settings: AgentSettings, place: AgentPlace) => Promise<Agent>> = {
  claude: async (settings, place) => (await import("../agents/claude/adapter.js")).claudeAgent(settings, place),
  codex: async (settings, place) => (await import("../agents/codex/adapter.js")).codexAgent(settings, place),
  pi: async (settings, place) => (await import("../agents/pi/adapter.js")).piAgent(settings, place),
  acp: async (settings, place) => (await import("../agents/acp/adapter.js")).acpAgent(settings, place),
  command: async (settings) => (await import("../agents/command.js")).commandAgent(settings),
  scripted: async (settings) => {
    const { scriptedAgent } = await import("../agents/scripted/adapter.js");
    return scriptedAgent(settings, { program: programPath("scripted.js") });
  },
};

/** The agent itself, or another one that is named in one line: it keeps what its own line does not say. */
export async function loadAgent(
  settings: AgentSettings,
  choice: AgentChoice | null,
  env: NodeJS.ProcessEnv,
): Promise<Agent> {
  if (choice === null) return await agents[settings.type](settings, placeIn(env));
  const own = choice.command.length === 0 && choice.type === settings.type ? settings.command : choice.command;
  return await agents[choice.type]({ ...settings, ...choice, command: own }, placeIn(env));
}

const providers: Readonly<Record<string, AgentKind>> = { anthropic: "claude", openai: "codex" };

/**
 * Who does the stages of a workflow that name a provider. A program of the user's own does them all, whatever they name:
 * it is told the model and chooses. Only the name of another kind of agent asks for that one.
 */
export async function loadStageAgent(
  settings: AgentSettings,
  provider: string | null,
  env: NodeJS.ProcessEnv,
): Promise<Agent> {
  const isOwn = settings.type === "command" || settings.type === "scripted";
  const named = provider === null ? settings.type : Object.keys(agents).find((kind) => kind === provider);
  const kind = named ?? (isOwn ? settings.type : providers[provider?.toLowerCase() ?? ""]);
  if (kind === settings.type) return await loadAgent(settings, null, env);
  if (kind === undefined) {
    const known = [...Object.keys(providers), ...Object.keys(agents)].join(", ");
    throw new UserError(`no agent is known for the provider ${provider}`, { hint: `known are ${known}` });
  }
  const { agentEnvironment } = await import("../config/resolve.js");
  const type = kind as AgentKind;
  return await loadAgent(settings, { type, model: null, effort: null, command: [], env: agentEnvironment(type) }, env);
}

/** `agent.fallback`, with the words for it. */
export async function loadFallback(settings: AgentSettings, env: NodeJS.ProcessEnv): Promise<Agent | null> {
  if (settings.fallback === null) return null;
  return namedBy("agent.fallback", await loadAgent(settings, settings.fallback, env));
}

/** What an agent says of a key of `agent` is said of the one that names it here. */
function namedBy(key: string, agent: Agent): Agent {
  const rename = (text: string) => text.replaceAll(/\bagent\.(command|type)\b/g, `${key}.$1`);
  const check: Agent["check"] = async (dir) => {
    const missing = await agent.check(dir);
    return missing === null ? null : { message: rename(missing.message), hint: rename(missing.hint) };
  };
  const ask = agent.status;
  if (!ask) return { ...agent, check };
  const status: Agent["status"] = async (dir) => {
    const found = await ask(dir);
    return found.advice === null ? found : { ...found, advice: rename(found.advice) };
  };
  return { ...agent, check, status };
}

async function claudeAs(model: string, { type, env }: AgentSettings): Promise<AgentChoice> {
  const { agentEnvironment } = await import("../config/resolve.js");
  const visible = type === "claude" ? env : agentEnvironment("claude");
  return { type: "claude", model, effort: null, command: [], env: visible };
}

interface ReviewerPlace {
  readonly name: string;
  /** The key of the settings that choose it. */
  readonly key: string;
  readonly settings: Settings;
  readonly env: NodeJS.ProcessEnv;
}
const reviewers: Record<
  Exclude<ReviewerKind, "panel">,
  (chosen: ReviewerSettings, place: ReviewerPlace) => Promise<Reviewer>
> = {
  cerberus: async ({ cerberus }, { name, env }) => {
    const { cerberusReviewer } = await import("../reviewers/cerberus.js");
    return cerberusReviewer({ name, settings: cerberus, program: programPath("cerberus.js"), env });
  },
  agent_sdk: async (chosen, { name, key, settings, env }) => {
    const { agentReviewer } = await import("../reviewers/agent-sdk.js");
    const choice = chosen.agent_sdk_agent ?? (await claudeAs(chosen.agent_sdk_model, settings.agent));
    const agent = namedBy(`${key}.agent_sdk_agent`, await loadAgent(settings.agent, choice, env));
    const { model, effort } = choice;
    return agentReviewer({ name, agent, model, effort, timeoutSeconds: chosen.agent_sdk_timeout });
  },
  command: async ({ command }, { name }) =>
    (await import("../reviewers/command.js")).commandReviewer({ name, command }),
};
interface TrackerPlace {
  readonly settings: Settings;
  readonly store: Store;
  readonly projectId: string;
  readonly repoPath: string;
  readonly env: NodeJS.ProcessEnv;
  readonly home: Home;
}
export const trackers: Record<Settings["tracker"]["type"], (place: TrackerPlace) => Promise<Tracker>> = {
  local: async ({ store, projectId }) =>
    (await import("../trackers/local.js")).localTracker(store.workItems, projectId),
  beads: async ({ store, projectId, repoPath, env, home }) => {
    const { beadsTracker, endLeftCalls, missingBeads } = await import("../trackers/beads.js");
    const missing = missingBeads({ cwd: repoPath, env });
    if (missing) throw new UserError(missing.message, { hint: missing.hint, code: "program-missing" });
    const [lockFolder, noteFolder] = [join(home.root, "locks", "beads"), join(home.root, "beads-claims")];
    const callFolder = join(home.root, "beads-calls");
    await endLeftCalls(callFolder);
    const tracker = beadsTracker(
      { cwd: repoPath, env, callFolder, warn: warnOnce },
      { lockFolder, noteFolder, isOver: isOverIn(store) },
    );
    return withOneFollowUp(tracker, followUpLock(home, projectId));
  },
  github: async ({ store, settings, projectId, repoPath, env, home }) => {
    const { githubTracker } = await import("../trackers/github.js");
    const { openEtags } = await import("../lib/github-client/etags.js");
    const { hostOf, placeOf } = await import("../lib/github-client/remote.js");
    const { needToken } = await import("../lib/github-client/token.js");
    const place = placeOf(settings.forge, await originOf(repoPath));
    const { value: token } = await needToken(env, hostOf(place));
    const etags = openEtags(join(home.root, "forge", safeName(projectId)), warnOnce);
    const { trusted } = settings.pull_requests;
    const options = { place, token, userAgent: `ratchet/${version}`, trusted, isOver: isOverIn(store) };
    return withOneFollowUp(githubTracker(options, etags), followUpLock(home, projectId));
  },
};

/** Whoever opens a tracker a second time in this process says nothing twice. */
function warnOnce(text: string): void {
  if (warned.has(text)) return;
  warned.add(text);
  warn(text);
}
const warned = new Set<string>();

function followUpLock({ root }: Home, projectId: string): string {
  return join(root, "locks", `follow-up-${safeName(projectId)}`);
}

/** A run that this home does not know may be another machine's, and alive. */
function isOverIn(store: Store): (runId: string) => Promise<boolean> {
  return async (runId) => {
    const known = (await store.runs(null, 10_000)).some((run) => run.runId === runId);
    return known && !(await store.unfinishedRuns(null)).some(({ run }) => run.runId === runId);
  };
}

/** One reviewer per slot: the panel's members, or the one there is. None when no review is enabled. */
export async function loadReviewers(settings: Settings, env: NodeJS.ProcessEnv): Promise<Map<string, Reviewer>> {
  const { section, reviewer } = reviewerSource(settings);
  if (section === "default" && !settings.pull_requests.review.enabled) return new Map();
  const { reviewer_type: kind } = reviewer;
  const key = keyOf(section);
  if (kind !== "panel") return new Map([[kind, await reviewers[kind](reviewer, { name: kind, key, settings, env })]]);
  const members = reviewer.panel.map(async (member, index) => {
    const { name, reviewer_type } = member;
    const place = { name, key: `${key}.panel[${index}]`, settings, env };
    return [name, await reviewers[reviewer_type](member, place)] as const;
  });
  return new Map(await Promise.all(members));
}

/** Where the reviewer of a section is chosen; without a section, where it would be. */
function keyOf(section: ReturnType<typeof reviewerSource>["section"]): string {
  if (section === "per_issue_review" || section === "default") return "per_issue_review";
  return `${section}.code_review`;
}

/** Every program that a run would start, by what it is for. */
export async function loadPrograms(
  settings: Settings,
  env: NodeJS.ProcessEnv,
): Promise<readonly { readonly name: string; readonly program: Agent | Reviewer }[]> {
  const fallback = await loadFallback(settings.agent, env);
  const reviewing = [...(await loadReviewers(settings, env))];
  return [
    { name: "agent", program: await loadAgent(settings.agent, null, env) },
    ...(fallback ? [{ name: "agent.fallback", program: fallback }] : []),
    ...reviewing.map(([slot, program]) => ({ name: `reviewer ${slot}`, program })),
  ];
}
