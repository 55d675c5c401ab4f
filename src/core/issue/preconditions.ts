import type { Remark } from "../finding.js";
import { shownName } from "../plain-text.js";
import { plainRemark } from "./ledger-parts.js";
import type { IssuePolicy } from "./policy.js";
import type { IssueState, Work } from "./state.js";

const gateName = "gate";

/** What must hold before a gate command may run. Each broken one is a finding; Ratchet never repairs for an implementer. */
export function brokenPreconditions({ state, policy, dirty, unpushed }: Judged, work: Work): Remark[] {
  const remarks: Remark[] = [];
  if (work.dirtyCount > 0) remarks.push(uncommitted(work, dirty));
  if (work.unpushedCount) remarks.push(notPushed(unpushed));
  const marker = wrongMarker(state, work);
  if (marker) remarks.push(marker);
  if (state.marker === null && work.commits === 0) {
    const body =
      "There is no commit of its own since the base. Commit the work, or end with a line ISSUE_NO_CHANGE, ISSUE_OBSOLETE or ISSUE_ALREADY_COMPLETE and why.";
    remarks.push(plainRemark("No commit", body, gateName));
  }
  if (!work.containsBase) remarks.push(withoutBase(state, policy));
  return remarks;
}

interface Judged {
  readonly state: IssueState;
  readonly policy: IssuePolicy;
  readonly dirty: readonly string[];
  readonly unpushed: readonly string[];
}

/** What HEAD has to contain. What an agent has merged unasked it may drop again. */
export function requiredBase({ landing, baseSha, reviewBase, unmerged }: IssueState): string {
  return landing.demanded ? (unmerged ?? reviewBase) : baseSha;
}

function withoutBase(state: IssueState, policy: IssuePolicy): Remark {
  const { landing } = state;
  const base = requiredBase(state);
  if (landing.demanded) {
    const { demandedOf = null } = landing;
    const whose = demandedOf === null ? "the tip of the target" : `the newest commit of ${demandedOf} at origin`;
    const body = `The branch must contain ${base}, ${whose}. Merge it into the branch, resolve the conflicts and commit.`;
    return plainRemark(`${demandedOf === null ? "The target" : "What others pushed"} is not merged`, body, gateName);
  }
  if (policy.trigger) {
    const body = `The branch no longer contains ${base.slice(0, 12)}, at which the trigger began: that was amended, rebased or reset to before it. Merged with the target, what was taken out of it would come back: a repair is a commit on top.`;
    return plainRemark("A fixer has rewritten what it was to build on", body, gateName);
  }
  const body = `The branch no longer contains its base ${base.slice(0, 12)}: it was reset to before it, or begun anew. Put the work on top of that commit again, for example with git cherry-pick.`;
  return plainRemark("The base is not in the branch", body, gateName);
}

/** Nothing of the branch lands: the issue ends by its marker. */
export function landsNothing(state: IssueState): boolean {
  const name = state.marker?.name;
  return name === "NO_CHANGE" || name === "OBSOLETE" || name === "ALREADY_COMPLETE";
}

function uncommitted(work: Work, dirty: readonly string[]): Remark {
  const more = work.dirtyCount - dirty.length;
  const list = [...dirty.map(shownName), ...(more > 0 ? [`… and ${more} more`] : [])].join("\n");
  return plainRemark("Uncommitted changes", `These files are not committed (${work.dirtyCount}):\n${list}`, gateName);
}

function notPushed(unpushed: readonly string[]): Remark {
  const list = unpushed.map(shownName).join("\n");
  const body = `Once the work has landed, nobody else could check these out, as far as is known here:\n${list}\nPush it to the remote that .gitmodules names, or leave the pointer as it was. Where that has it already and cannot be asked, fetch its branch in the submodule.`;
  return plainRemark("The commit of a submodule is not pushed", body, gateName);
}

function wrongMarker({ marker }: IssueState, work: Work): Remark | null {
  if (marker === null) return null;
  const wrong = markerFault(marker.name, work);
  return wrong === null ? null : plainRemark(`ISSUE_${marker.name} does not hold`, wrong, gateName);
}

function countOf(commits: number): string {
  return commits === 1 ? "is 1 commit" : `are ${commits} commits`;
}

function markerFault(name: string, work: Work): string | null {
  switch (name) {
    case "NO_CHANGE":
    case "OBSOLETE":
      return work.commits > 0 ? `It means that nothing was changed, but there ${countOf(work.commits)}.` : null;
    case "ALREADY_COMPLETE":
      return work.named === true ? null : "Its rationale must name a commit that is in the target branch.";
    default:
      if (work.commits === 0) return "There is no commit of its own.";
      return work.docsOnly ? null : "The commits change files that are no documentation.";
  }
}
