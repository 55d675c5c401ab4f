import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { type ConfigEntry, fromHome, identityFrom, usualPlace } from "../repository.js";

/**
 * What the mirror and the checkouts take over from the user's repository: remotes, identity, LFS and other filters,
 * line ends, how to merge. Everything else of theirs (hooks, aliases, includes, tokens in headers) stays behind. The files are made
 * whole from the user's settings each time, so whatever an agent wrote into one is gone at the next look.
 *
 * How files are written and read is taken from the user's own settings and the machine's, too: an agent that does not have
 * the variables by which git finds those would see every file changed that Ratchet has written.
 */
const core =
  /^core\.(autocrlf|eol|safecrlf|filemode|symlinks|ignorecase|precomposeunicode|longpaths|checkstat|trustctime|bigfilethreshold|attributesfile|excludesfile)$/;
const files = new RegExp(`${core.source}|^filter\\.`);
const forCheckouts =
  /^(user|lfs|filter|diff|merge|gpg|i18n)\.|^remote\..*\.(url|pushurl|fetch|promisor|partialclonefilter)$/;
const forMirror = /^(user|lfs|merge|remote|url|http|credential)\.|^ssh\.variant$|^core\.sshcommand$/;

export interface CopiedSettings {
  readonly mirror: string;
  readonly checkout: string;
}

interface Source {
  readonly entries: readonly ConfigEntry[];
  readonly root: string;
  readonly commonDir: string;
}

interface Setting {
  readonly key: string;
  readonly value: string;
}

export function copySettings(source: Source): CopiedSettings {
  const local = [...usualFiles(), ...source.entries.filter(isTaken)].map(({ key, value }) => ({
    key,
    value: placed(source, key, value),
  }));
  const chosen = (wanted: RegExp) => local.filter(({ key }) => wanted.test(key) || core.test(key));
  const format = local.filter(({ key }) => key === "extensions.objectformat" || key === "extensions.partialclone");
  const base = [{ key: "core.repositoryformatversion", value: format.length > 0 ? "1" : "0" }, ...format];
  const quiet = [
    { key: "gc.auto", value: "0" },
    { key: "maintenance.auto", value: "false" },
  ];
  const { name, email } = identityFrom(source.entries);
  const own = [
    { key: "user.name", value: name },
    { key: "user.email", value: email },
    ...(local.some(({ key }) => key === "lfs.storage")
      ? []
      : [{ key: "lfs.storage", value: join(source.commonDir, "lfs") }]),
  ];
  return {
    mirror: writeConfig([...base, { key: "core.bare", value: "true" }, ...quiet, ...chosen(forMirror), ...own]),
    checkout: writeConfig([
      ...base,
      { key: "core.bare", value: "false" },
      { key: "core.logallrefupdates", value: "true" },
      ...quiet,
      ...chosen(forCheckouts),
      ...local.filter(isUnsigned),
      ...own,
    ]),
  };
}

/** The files that git reads where no setting names one. */
function usualFiles(): readonly Setting[] {
  const named = { "core.attributesfile": usualPlace("attributes"), "core.excludesfile": usualPlace("ignore") };
  return Object.entries(named).flatMap(([key, value]) => (existsSync(value) ? [{ key, value }] : []));
}

function isTaken({ scope, key }: ConfigEntry): boolean {
  if (scope === "local" || scope === "worktree") return key !== "user.name" && key !== "user.email";
  return scope !== "command" && files.test(key);
}

/** Who signs everywhere but here cannot be asked to by an agent. That they sign here is not asked of one either. */
function isUnsigned({ key, value }: Setting): boolean {
  return /^(commit|tag)\.gpgsign$/.test(key) && /^(false|no|off|0)$/i.test(value);
}

/** Values that are paths relative to the user's repository mean something else in ours. */
function placed({ root, commonDir }: Source, key: string, value: string): string {
  if (key === "lfs.storage") return isAbsolute(value) ? value : resolve(commonDir, value);
  // An empty one names no file: the usual one is left out by it.
  if ((key === "core.attributesfile" || key === "core.excludesfile") && value !== "")
    return value.startsWith("~") ? fromHome(value) : resolve(root, value);
  if (!/^remote\..*\.(url|pushurl)$/.test(key)) return value;
  const elsewhere =
    isAbsolute(value) || value.startsWith("~") || /^[\w+.-]+:/.test(value) || /^[^/]*@?[^/]*:/.test(value);
  return elsewhere ? value : resolve(root, value);
}

function writeConfig(entries: readonly Setting[]): string {
  return entries
    .map(({ key, value }) => `${header(key)}\n\t${key.slice(key.lastIndexOf(".") + 1)} = ${quoted(value)}\n`)
    .join("");
}

/** `remote.my.fork.url` → `[remote "my.fork"]`. */
function header(key: string): string {
  const first = key.indexOf(".");
  const last = key.lastIndexOf(".");
  const section = key.slice(0, first);
  return first === last ? `[${section}]` : `[${section} "${key.slice(first + 1, last).replace(/["\\]/g, "\\$&")}"]`;
}

function quoted(value: string): string {
  const escaped = value.replace(/["\\]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t");
  return `"${escaped}"`;
}
