import { isRunSource, type OpenFollowUp, paragraphsOf, placeFollowUp } from "../../core/follow-up.js";
import type { FollowUpTold, Tracker } from "../../core/ports/tracker.js";
import { ExternalError } from "../../lib/errors.js";
import { change } from "./change.js";
import { followUpMark, isClosed, labels, listWhere, showBead, showListed, toIssue } from "./issues.js";
import { type Beads, pauseAfter } from "./program.js";
import { readBeads } from "./read.js";

type Text = Parameters<Tracker["followUp"]>[1];

/** A single argument of a program ends at 128 kB. */
const longestText = 100_000;

/**
 * One open follow-up per source issue, known by the mark in its description. It is looked for before each try to make
 * it: a call that failed may still have made it.
 */
export async function writeFollowUp(beads: Beads, source: string, text: Text): Promise<FollowUpTold> {
  for (let failures = 1; ; failures++) {
    const { to, added, older } = placeFollowUp(await openFollowUps(beads, source), { source, body: text.body });
    if (to !== null) return { id: await append(beads, to, { source, added }), older };
    try {
      return { id: await create(beads, source, { ...text, body: added.join("\n\n") }), older };
    } catch (error) {
      if (failures >= 3) throw error;
      await beads.wait(beads.nameOf(["create"]), (signal) => pauseAfter(failures, signal));
    }
  }
}

/** The source's own; where that is a run, those of all. */
async function openFollowUps(beads: Beads, source: string): Promise<OpenFollowUp[]> {
  const list = async () =>
    (await listWhere(beads, `--label=${labels.followUp}`)).filter(({ status }) => !isClosed(status));
  const found: OpenFollowUp[] = [];
  for await (const bead of showListed(beads, list)) {
    const { followUpOf, status } = toIssue(bead);
    if (followUpOf == null || isClosed(bead.status)) continue;
    const { id, description: body } = bead;
    found.push({ id, source: followUpOf, body, isTaken: status === "claimed" });
    if (followUpOf === source && !isRunSource(source)) break;
  }
  return found;
}

async function create(beads: Beads, source: string, { title, body, inEpic = false }: Text): Promise<string> {
  // What a trigger of a whole run found comes from no issue.
  const isIssue = (await showBead(beads, source)) !== null;
  const args = [
    "create",
    // A leading dash would be read as an option.
    title.replace(/^[-\s]+/, ""),
    "--type=task",
    inEpic ? "--priority=1" : "--priority=3",
    `--labels=${labels.followUp}`,
    ...(isIssue ? [`--deps=${inEpic ? "parent-child" : "discovered-from"}:${source}`] : []),
    `--description=${fitArgument([followUpMark(source), ...paragraphsOf(body)], source)}`,
  ];
  const { stdout } = await beads.call(args, { tries: 1 });
  const [made] = readBeads(stdout, beads.nameOf(["create"]));
  if (made === undefined) {
    throw new ExternalError("tracker", `${beads.nameOf(["create"])} made no issue`, { retryable: true });
  }
  return made.id;
}

async function append(
  beads: Beads,
  old: OpenFollowUp,
  { source, added }: { readonly source: string; readonly added: readonly string[] },
): Promise<string> {
  const text = added.length === 0 ? old.body : fitArgument([...paragraphsOf(old.body), ...added], source);
  // What is full already says so.
  if (text !== old.body) {
    const args = ["update", old.id, `--description=${text}`] as const;
    await change(beads, { id: old.id, args }, ({ description }) => description !== old.body);
  }
  return old.id;
}

/** As much as an argument holds, and where the rest is. */
function fitArgument(parts: readonly string[], source: string): string {
  const kept: string[] = [];
  let bytes = 0;
  for (const part of parts) {
    bytes += Buffer.byteLength(part) + 2;
    if (bytes > longestText) break;
    kept.push(part);
  }
  const left = parts.length - kept.length;
  return [...kept, ...(left === 0 ? [] : [`(${left} more: ratchet findings ${source} --all)`])].join("\n\n");
}
