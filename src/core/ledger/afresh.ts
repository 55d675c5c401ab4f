import type { Finding } from "../finding.js";
import { closeFinding } from "./entry.js";

/** Why a finding is superseded whose issue is begun afresh: what it is about is put aside, and no prompt tells of it again. */
export const begunAfresh = "begun afresh: the work it was found in is put aside";

/** An objection that no reviewer has answered was about that work, too: it decides nothing. */
export function closeAfresh(finding: Finding, at: number): Finding {
  const { rejected: _, repeated: __, ...kept } = finding;
  return closeFinding(kept, { status: "superseded", reason: begunAfresh, at, commit: null });
}
