import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { isKnown, printable } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { all, has, parseOptions } from "./options.js";

/**
 * Git starts programs that its settings name, later and unseen, also for commands that only read. A turn sets none of
 * them for good; for one command (`git -c`) the program is judged like any other.
 */
const programs = [
  /^core\.(sshcommand|editor|pager|fsmonitor|askpass|gitproxy|alternaterefscommand)$/,
  /^(sequence\.editor|diff\.external|interactive\.difffilter|imap\.tunnel|gc\.recentobjectshook)$/,
  /^(filter|pager|man|browser|guitool|instaweb|sendemail|hook|credential|lfs\.customtransfer|trailer|tar)\./,
  /^(uploadpack\.packobjectshook|gpg\.(.*\.)?(program|defaultkeycommand)|submodule\..*\.update)$/,
  /^(merge|diff|difftool|mergetool)\..*\.(textconv|driver|cmd|command|path)$/,
  /\.(program|helper|cmd|command|textconv|clean|smudge|process|driver|uploadpack|receivepack|vcs|proxycommand)$/,
];
/** Where further settings or hooks come from. */
const places = /^(core\.(hookspath|worktree|attributesfile)|include\.path|includeif\..*|init\.templatedir)$/;
/** They start nothing, or only print. */
const idle = /^(|cat|true|false|:|no|off|0)$/;

type Setting = "alias" | "program" | "place" | "plain";

function kindOf(key: string): Setting {
  const name = key.toLowerCase();
  if (name.startsWith("alias.")) return "alias";
  if (places.test(name)) return "place";
  return programs.some((each) => each.test(name)) ? "program" : "plain";
}

/** `git -c key=value`, `git clone -c …`: for one command. */
export function judgeSetting(call: Call, key: string, value: string): void {
  const kind = isKnown(key) ? kindOf(key) : "alias";
  if (kind === "alias") refuse("git -c: an alias hides what is run; write the command out");
  if (kind === "plain" || idle.test(value) || value === "/dev/null") return;
  if (kind === "place" || !isKnown(value)) refuse(`git -c ${key}: nobody can tell what it would run; leave it away`);
  call.shell.runChild(value.replace(/^!/, ""), call, []);
}

const spec = { short: "f", long: ["file", "type", "default", "comment", "value", "url", "blob"] };

/** `git config` when it changes something. */
export function changeConfig(call: Call, args: readonly string[]): void {
  const options = parseOptions(args, spec);
  if (has(options, "global", "system"))
    refuse("git config: only the worktree's own settings may be changed; leave --global away");
  for (const file of all(options, "f", "file")) mustWrite(call, file);
  const [first = "", second = ""] = options.operands;
  if (has(options, "edit", "e", "rename-section") || first === "edit" || first === "rename-section")
    refuse("git config: name the setting and its value");
  const key = first === "set" || first === "unset" || first === "remove-section" ? second : first;
  if (!isKnown(key)) refuse(`git config: nobody can tell which setting ${printable(key)} is; write it out`);
  // Whatever the options before it mean, one of the words is the key.
  for (const word of args) judgeKey(word, options.operands[options.operands.indexOf(word) + 1]);
}

function judgeKey(key: string, value: string | undefined): void {
  const kind = kindOf(key);
  if (/^(remote|url)\./i.test(key)) refuse("git config: where the repository comes from is not changed in a turn");
  if (kind === "alias") refuse("git config: an alias hides what is run; write the command out");
  if (kind === "plain" || (kind === "program" && value !== undefined && idle.test(value))) return;
  if (kind === "place" && value === "/dev/null") return;
  refuse(`git config ${key}: git would start what it names, unseen, later on; run the program yourself instead`);
}
