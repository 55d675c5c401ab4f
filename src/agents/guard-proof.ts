import { join } from "node:path";
import type { Agent } from "../core/ports/agent.js";
import type { Asker } from "../core/ports/tracker.js";
import type { AgentSettings } from "../core/settings.js";
import { type GuardProof, proofKey } from "../hook/self-test.js";
import { findExecutable } from "../lib/executable.js";
import { ratchetHome } from "../lib/home.js";
import type { AgentPlace } from "./place.js";

/** What is to be proven, and to whom. */
export interface Tried {
  readonly settings: AgentSettings;
  readonly place: AgentPlace;
  readonly dir: string;
  readonly asker: Asker | undefined;
  readonly read: Agent["read"];
}

/** What a proof of a program with our hook rests on; null: the program is not there, and there is nothing to prove. */
export function hookProof(
  name: string,
  { settings, place, dir, read }: Tried,
): (Pick<GuardProof, "name" | "key" | "cacheFolder" | "read"> & { readonly settings: AgentSettings }) | null {
  const [program = name, ...given] = settings.command;
  const found = findExecutable(program, place.env.PATH ?? "", dir);
  if (found.state !== "found") return null;
  const { node, hook, piGuard, acp } = place.programs;
  const files = name === "pi" ? [piGuard] : name === "acp" ? [hook, acp] : [hook];
  const key = proofKey({ programs: [found.path, node], files, settings: [name, given] });
  const cacheFolder = join(ratchetHome(place.env).root, "proven");
  // From the proof's own folder a relative path would lead nowhere.
  return { name, key, cacheFolder, read, settings: { ...settings, command: [found.path, ...given] } };
}

export function toEventStream(events: readonly { readonly type: string }[]) {
  const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return { headers: { "content-type": "text/event-stream" }, chunks };
}
