import { contradictoryKey } from "../../lib/contradiction.js";
import { findObjects } from "../../lib/json-objects.js";
import { parseJson } from "../../lib/parse-json.js";
import { asStatus, type StatusRead, StatusReader } from "../../workflow/status.js";
import { readResult, resultKeys } from "./result.js";

/** As much of the end of a reply is looked at for a verdict in other words. */
const heardMax = 1024 * 1024;

/**
 * What a stage says aloud. A review's word is the marker; a reply without one that says that the review fails, as a reviewer of
 * an issue would say it or in a line of its own, is told as failing: where silence is a pass, that is none.
 */
export class SpokenStatus {
  readonly #markers = new StatusReader();
  #heard = "";

  hear(line: string): void {
    this.#markers.push(`${line}\n`);
    this.#heard += `${line}\n`;
    if (this.#heard.length > 2 * heardMax) this.#heard = this.#heard.slice(-heardMax);
  }

  end({ review }: { readonly review: boolean }): StatusRead | null {
    const marked = this.#markers.end();
    if (!review || (marked !== null && (marked.status !== null || marked.invalid !== undefined))) return marked;
    const failing = failureIn(this.#heard.slice(-heardMax));
    return failing === null ? marked : { ...(marked ?? unsaid), failing };
  }
}

const unsaid = { from: "marker", status: null, failureReason: null, preferredLabel: null, nextIds: [] } as const;

/** What a file that says nothing of the outcome leaves to the reply. */
export function joinStatus(file: StatusRead | null, spoken: StatusRead | null): StatusRead | null {
  if (file === null || spoken === null || file.status !== null || file.broken !== undefined) return file ?? spoken;
  return {
    ...spoken,
    failureReason: file.failureReason ?? spoken.failureReason,
    preferredLabel: file.preferredLabel ?? spoken.preferredLabel,
    nextIds: file.nextIds.length > 0 ? file.nextIds : spoken.nextIds,
  };
}

/** Words only: what is chosen by has to be what it said. */
export function redactStatus(read: StatusRead | null, redact: (text: string) => string): StatusRead | null {
  if (read === null) return null;
  const { failureReason: reason, broken, failing } = read;
  return {
    ...read,
    failureReason: reason === null ? null : redact(reason),
    ...(broken === undefined ? {} : { broken: redact(broken) }),
    ...(failing === undefined ? {} : { failing: redact(failing) }),
  };
}

/** Why it is no pass; null: it says nothing of the kind. */
function failureIn(text: string): string | null {
  return failureOfObjects(text) ?? failureOfLines(text);
}

/** The last object that judges counts, as of any reviewer's answer. */
function failureOfObjects(text: string): string | null {
  for (const { start, end } of findObjects(text, "verdict").reverse()) {
    const json = text.slice(start, end);
    const fields = parseJson(json);
    if (!isJudgement(fields)) continue;
    const key = contradictoryKey(json, resultKeys);
    if (key !== null) return `its reply says ${JSON.stringify(key)} twice, and not the same`;
    const { status } = readResult(fields, { review: true });
    if (status?.broken !== undefined) return `its reply ${status.broken}`;
    const isFailing = status?.status === "fail" || status?.status === "retry";
    return isFailing ? (status.failureReason ?? `its reply says ${status.status}`) : null;
  }
  return null;
}

/** Tools print a `status` too: it is a judgement only with a word that is one. */
function isJudgement(fields: unknown): boolean {
  if (typeof fields !== "object" || fields === null) return false;
  if ("verdict" in fields || "findings" in fields) return true;
  const words = ["status" in fields ? fields.status : null, "outcome" in fields ? fields.outcome : null];
  return words.some((word) => typeof word === "string" && asStatus(word) !== null);
}

const judgingLine = /^[ \t>#*_`{"'-]*(?:verdict|status|outcome)[ \t*_`"']*[:=][ \t*_`"']*([a-z]+)/gim;
const failingWord = /^(?:fail(?:s|ed|ing|ure)?|reject(?:s|ed)?|retry)$/i;

function failureOfLines(text: string): string | null {
  const word = [...text.matchAll(judgingLine)].at(-1)?.[1] ?? "";
  return failingWord.test(word) ? `its reply says ${word}` : null;
}
