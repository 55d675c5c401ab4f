import { type OpenFollowUp, paragraphsOf, placeFollowUp } from "../../core/follow-up.js";
import type { FollowUpText, FollowUpTold } from "../../core/ports/tracker.js";
import type { Github } from "../../lib/github-client/client.js";
import { createOnce } from "../../lib/github-client/create-once.js";
import { changeIssue, type Found, findIssue, followUpMark, labels, listIssues, toFound, toIssue } from "./issues.js";
import { readIssue } from "./wire.js";

/** GitHub refuses a longer text. */
const longestText = 60_000;
const longestTitle = 256;

/** One open follow-up per source, known by the mark in its text and by who wrote it. */
export async function writeFollowUp(
  github: Github,
  source: string,
  { text, me }: { readonly text: FollowUpText; readonly me: string },
): Promise<FollowUpTold> {
  let isNew = false;
  let added: readonly string[] = [];
  let older: FollowUpTold["older"] = {};
  const found = await createOnce<Found>({
    find: async () => {
      const open = await listIssues(github, { state: "open", labels: labels.followUp });
      const ours = open.filter(({ wire }) => wire.user?.login === me).flatMap(toOpen);
      const place = placeFollowUp(ours, { source, body: text.body });
      ({ added, older } = place);
      return place.to?.found ?? null;
    },
    create: async () => {
      const made = await create(github, source, { ...text, body: added.join("\n\n") });
      isNew = true;
      return made;
    },
  });
  const old = paragraphsOf(found.wire.body ?? "");
  if (!isNew && added.length > 0) await changeIssue(github, found.id, { body: fitText([...old, ...added], source) });
  return { id: found.id, older };
}

function toOpen(found: Found): (OpenFollowUp & { readonly found: Found })[] {
  const { id, body, followUpOf, status } = toIssue(found);
  return followUpOf == null ? [] : [{ id, body, source: followUpOf, isTaken: status === "claimed", found }];
}

async function create(github: Github, source: string, { title, body, inEpic = false }: FollowUpText): Promise<Found> {
  // What a trigger of a whole run found comes from no issue.
  const isIssue = (await findIssue(github, source)) !== null;
  const parent = inEpic && isIssue ? [`Parent: #${source}`] : [];
  const from = isIssue && !inEpic ? [`Follow-up of #${source}.`] : [];
  const made = await github.send({
    route: "POST /repos/{owner}/{repo}/issues",
    with: {
      title: title.slice(0, longestTitle),
      body: fitText([followUpMark(source), ...parent, ...from, ...paragraphsOf(body)], source),
      labels: [labels.followUp, inEpic ? "P1" : "P3"],
    },
  });
  return toFound(readIssue(made));
}

/** As much as fits, and where the rest is. */
function fitText(parts: readonly string[], source: string): string {
  const kept: string[] = [];
  let length = 0;
  for (const part of parts) {
    length += part.length + 2;
    if (length > longestText) break;
    kept.push(part);
  }
  const left = parts.length - kept.length;
  return [...kept, ...(left === 0 ? [] : [`(${left} more: ratchet findings ${source} --all)`])].join("\n\n");
}
