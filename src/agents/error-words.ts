import type { TurnOutcome } from "../core/issue/events.js";

/**
 * Programs pass a provider's error on as text, each in its own wrapping. The words in it decide what a turn came to:
 * wait, try again, begin a new session, or fail. What says nothing of the kind is a failure.
 */
export function outcomeOfError(
  text: string,
  { at, login }: { readonly at: number; readonly login: string },
): TurnOutcome {
  const reason = shorten(text);
  const status = statusIn(text);
  if (isLimit(text, status)) return { type: "limited", until: resetTime(text, at), reason };
  if (isOverflow(text)) return { type: "overflow", reason };
  if (status === 401 || status === 403 || loginWords.test(text))
    return { type: "failed", reason: `${reason} (${login})` };
  if (status === 529 || overloadWords.test(text)) return { type: "transient", reason, overloaded: true };
  if ((status !== null && status >= 500) || status === 408 || transientWords.test(text))
    return { type: "transient", reason };
  return { type: "failed", reason };
}

function isOverflow(text: string): boolean {
  return overflowWords.test(text);
}

const limitWords =
  /rate.?limit|too many requests|quota|usage.?limit|limit reached|hit your .{0,20}limit|resource.?exhausted|throttl/i;
/** Money that has run out does not come back by waiting. */
const moneyWords = /credit balance|insufficient.?(quota|credit|funds)|billing|payment required/i;
const overflowWords =
  /prompt (is )?too long|(context|prompt) (length|window) exceed|exceeds? (the )?(available |model'?s )?(maximum )?context|context.?(length|window).?exceeded|maximum context length|out of room in the model'?s context|input is too long|too many tokens|input token count.*exceeds|request_too_large|token limit exceeded/i;
const loginWords =
  /authenticat(ion|e).{0,12}(required|error|failed)|unauthori[sz]ed|invalid.{0,8}api.?key|no api key|not logged in|please (run|use) \S*login|(token|login|session) (has )?expired/i;
const overloadWords = /overloaded|at capacity|high demand|server is busy/i;
const transientWords =
  /internal server error|server_error|api_error|bad gateway|service.?unavailable|gateway time-?out|timed? ?out|network.?error|connection.?(error|refused|reset|lost|closed)|fetch failed|socket hang up|stream (ended|disconnected|closed)|terminated|ECONN(RESET|REFUSED)|EAI_AGAIN|ENOTFOUND|ETIMEDOUT/i;

function isLimit(text: string, status: number | null): boolean {
  return !moneyWords.test(text) && (status === 429 || limitWords.test(text));
}

/** A status that stands where statuses stand; numbers in ids and counts are none. */
function statusIn(text: string): number | null {
  const found =
    /^\W*(?:\w+ ){0,3}?([45]\d\d)\b/.exec(text) ??
    /\b(?:status(?:.?code)?|http(?:\/[\d.]+)?|code|error)["']?\s*[:=]?\s*\(?([45]\d\d)\b/i.exec(text) ??
    /\(([45]\d\d)\)/.exec(text);
  return found === null ? null : Number(found[1]);
}

/** When a limit is over, in ms, where the text says so; `at`: when it was said. */
export function resetTime(text: string, at: number): number | null {
  const epoch = /(?:reset\w*["']?\s*[:=]?\s*["']?|\|)(\d{10})(\d{3})?\b/i.exec(text);
  if (epoch) return Number(epoch[1]) * 1000;
  const date = /(?:reset|again|until)\D{0,30}?(\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d))/i.exec(text);
  if (date) return valid(Date.parse(date[1] ?? ""));
  return waitTime(text, at) ?? clockTime(text, at);
}

const unitsMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };

function waitTime(text: string, at: number): number | null {
  const part = String.raw`\d+(?:\.\d+)? ?(?:days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s|ms)(?![a-z]),? ?(?:and )?`;
  const found = new RegExp(
    String.raw`(?:again in|retry.?after|reset\w*(?: again)? (?:in|after)|wait)[\s"':=]*((?:${part})+|\d+\b)`,
    "i",
  ).exec(text);
  const said = found?.[1]?.trim();
  if (said === undefined) return null;
  if (/^\d+$/.test(said)) return at + Number(said) * 1000;
  let ms = 0;
  for (const [, amount = "0", unit = "s"] of said.matchAll(/(\d+(?:\.\d+)?) ?(ms|[dhms])/gi)) {
    ms += Number(amount) * (unit.toLowerCase() === "ms" ? 1 : (unitsMs[unit.toLowerCase()] ?? 0));
  }
  return at + Math.ceil(ms);
}

const minuteMs = 60_000;
/** A time that has passed no longer than this ago is that one still, not tomorrow's: clocks differ, and waits end late. */
const justPassedMs = 60 * minuteMs;

/** "try again at 2:54 AM", "resets 3pm": when this machine's clock no longer shows it; seconds are not told. */
function clockTime(text: string, at: number): number | null {
  const found =
    /(?:again at|resets?(?: at)?)(?: (\w{3,9} \d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}),?)?)? (\d{1,2})(?::(\d\d))? ?([ap])\.?m\b/i.exec(
      text,
    );
  if (!found) return null;
  const [, day, year, hour = "0", minute = "0", half = "a"] = found;
  const then = day === undefined ? new Date(at) : new Date(`${day} ${year ?? new Date(at).getFullYear()}`);
  then.setHours((Number(hour) % 12) + (half.toLowerCase() === "p" ? 12 : 0), Number(minute), 0, 0);
  const until = then.getTime() + minuteMs;
  if (day !== undefined || until > at) return valid(until);
  if (until > at - justPassedMs) return at + minuteMs;
  then.setDate(then.getDate() + 1);
  return then.getTime() + minuteMs;
}

function valid(ms: number): number | null {
  return Number.isFinite(ms) ? ms : null;
}

/** Fit for one line: a provider's JSON says its message and no more. */
function shorten(text: string): string {
  const said = /"message":\s*"((?:[^"\\]|\\.)+)"/.exec(text)?.[1];
  const status = statusIn(text);
  const whole = said === undefined ? text : `${status === null ? "" : `${status} `}${said.replace(/\\(.)/g, "$1")}`;
  return whole.replace(/\s+/g, " ").trim().slice(0, 300);
}
