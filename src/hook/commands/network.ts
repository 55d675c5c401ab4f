import { resolve } from "node:path";
import { refuse } from "../refusal.js";
import type { Call } from "../shell/session.js";
import { unknown } from "../shell/unknown.js";
import { mustWrite, placesOf } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

/** The network may be read. */
export const network: Commands = {
  curl: { judged: false, run: curl },
  wget: { judged: false, run: wget },
  ...each(["http", "https", "xh", "aria2c", "lynx", "nc", "ncat", "socat"], {
    judged: false,
    run: () => unknown.download,
  }),
  ...each(["ssh", "scp", "sftp", "telnet", "ftp", "mosh", "ssh-add", "ssh-copy-id"], {
    judged: true,
    run: otherMachine,
  }),
  ...each(["gh", "glab", "hub", "tea"], { judged: false, run: forge }),
};

function fetched(call: Call, path: string): void {
  if (path === "-" || path === "") return;
  mustWrite(call, path);
  for (const place of placesOf(call, path)) call.shell.session.downloaded.add(resolve(place));
}

const curlSpec = {
  short: "oXHdFuATeEbcmwxKrCtyYzDPQU",
  long: [
    "output",
    "request",
    "header",
    "data",
    "data-raw",
    "data-binary",
    "data-urlencode",
    "form",
    "user",
    "user-agent",
    "output-dir",
    "cookie-jar",
  ].concat([
    "dump-header",
    "config",
    "max-time",
    "connect-timeout",
    "retry",
    "write-out",
    "proxy",
    "cacert",
    "json",
    "trace",
    "trace-ascii",
    "url",
  ]),
};

function curl(call: Call): string {
  const options = parseOptions(call.args, curlSpec);
  const [folder] = all(options, "output-dir");
  for (const file of all(options, "o", "output"))
    fetched(call, folder === undefined || file === "-" ? file : `${folder}/${file}`);
  for (const file of all(options, "c", "cookie-jar", "D", "dump-header", "trace", "trace-ascii"))
    if (file !== "-") mustWrite(call, file);
  if (has(options, "O", "remote-name", "remote-name-all", "J")) {
    mustWrite(call, folder ?? ".");
    for (const url of options.operands) fetched(call, `${folder ?? "."}/${url.split("/").at(-1) ?? ""}`);
  }
  return unknown.download;
}

function wget(call: Call): string {
  const options = parseOptions(call.args, {
    short: "OPoaiUTtQ",
    long: [
      "output-document",
      "directory-prefix",
      "output-file",
      "append-output",
      "header",
      "user-agent",
      "timeout",
      "tries",
      "input-file",
    ],
  });
  for (const file of all(options, "O", "output-document")) fetched(call, file);
  for (const file of all(options, "o", "output-file", "a", "append-output")) mustWrite(call, file);
  const folder = all(options, "P", "directory-prefix")[0] ?? ".";
  if (has(options, "O", "output-document")) return unknown.download;
  mustWrite(call, folder);
  for (const url of options.operands) fetched(call, `${folder}/${url.split("/").at(-1) ?? ""}`);
  return unknown.download;
}

function otherMachine(call: Call): string | undefined {
  if (call.args.length === 1 && call.args[0] === "-V") return undefined;
  return refuse(`${call.name}: other machines are not reached from a turn`);
}

/** Issues and pull requests may be looked at; what is published is Ratchet's business. */
function forge(call: Call): string | undefined {
  const [noun = "", verb = ""] = call.args.filter((arg) => !arg.startsWith("-"));
  if (noun === "auth") refuse(`${call.name} auth: a turn needs no logins`);
  if (noun === "api") {
    const options = parseOptions(call.args, {
      short: "XfFHqt",
      long: ["method", "field", "raw-field", "input", "header", "jq"],
    });
    const isGet = all(options, "X", "method").every((method) => method.toUpperCase() === "GET");
    const hasMethod = has(options, "X", "method");
    if (isGet && (hasMethod || !has(options, "f", "F", "field", "raw-field", "input"))) return unknown.any;
  }
  if (
    /^(view|list|status|diff|checks|watch|search|download)$/.test(verb) ||
    noun === "search" ||
    noun === "status" ||
    noun === ""
  )
    return unknown.any;
  return refuse(`${call.name} ${noun} ${verb}: a turn changes nothing on the forge; Ratchet delivers the commits`);
}
