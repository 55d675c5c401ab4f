import { basename, dirname } from "node:path";
import type { Call } from "../shell/session.js";
import { isKnown, isOpaque, unknown } from "../shell/unknown.js";
import { mustWrite } from "./access.js";
import { type Commands, each } from "./command.js";
import { all, has, parseOptions } from "./options.js";

const text = () => [];

/** Programs that only print, and what they print as far as it matters in a path. */
export const outputs: Commands = {
  echo: { judged: true, reads: text, run: echo },
  printf: { judged: true, reads: text, run: printf },
  pwd: { judged: true, run: ({ state }) => (state.cwds.length === 1 ? state.cwds[0] : unknown.any) },
  dirname: { judged: true, reads: text, run: ({ args }) => mapPath(args, dirname) },
  basename: { judged: true, reads: text, run: baseName },
  ...each(["realpath", "readlink"], { judged: true, run: ({ args }) => mapPath(args, (path) => path) }),
  mktemp: { judged: true, run: makeTemporary },
  date: {
    judged: true,
    reads: text,
    run: ({ args }) => (args.some((arg) => arg.includes("/")) ? unknown.any : unknown.name),
  },
  ...each(
    ["seq", "nproc", "uname", "whoami", "id", "hostname", "arch", "uuidgen", "tty", "logname", "groups", "getconf"],
    {
      judged: true,
      reads: text,
      run: () => unknown.name,
    },
  ),
  ...each(["expr", "bc", "dc", "sleep", "yes", "tput", "clear", "cal", "uptime", "free", "locale", "nproc", "getent"], {
    judged: true,
    reads: text,
    run: ({ name }) => (name === "expr" || name === "bc" ? unknown.name : undefined),
  }),
  ...each(
    ["ps", "pgrep", "lsof", "top", "ss", "netstat", "pstree", "printenv", "df", "man", "info", "help", "history"],
    { judged: true },
  ),
  // What tools of other languages print to set up a shell.
  ...each(
    ["ssh-agent", "direnv", "fnm", "pyenv", "rbenv", "nodenv", "goenv", "conda", "mise", "asdf", "opam", "dircolors"],
    {
      judged: false,
      run: () => "",
    },
  ),
};

function echo({ args }: Call): string {
  const words = args.slice(args.findIndex((arg) => !/^-[neE]+$/.test(arg)));
  const isEscaped = args.some((arg) => /^-[nE]*e/.test(arg));
  const line = args.every((arg) => /^-[neE]+$/.test(arg)) ? "" : words.join(" ");
  return isEscaped && line.includes("\\") ? unknown.any : line;
}

function printf(call: Call): string {
  const [format = "", ...args] = call.args;
  if (format === "-v" && args[0] !== undefined) {
    call.state.vars.set(args[0], [unknown.any]);
    return "";
  }
  const line = format.replace(/\\n/g, "\n");
  if (line.includes("\\") || (line.includes("%") && !/^%s\n?$/.test(line))) return unknown.any;
  return line.includes("%") ? args.join("\n") : line;
}

function mapPath(args: readonly string[], change: (path: string) => string): string {
  const paths = parseOptions(args).operands;
  return paths.map((path) => (isOpaque(path) ? unknown.any : change(path))).join("\n");
}

function baseName({ args }: Call): string {
  const [path = ""] = parseOptions(args, { short: "s" }).operands;
  return isKnown(path) && args.length === 1 ? basename(path) : unknown.name;
}

function makeTemporary(call: Call): string {
  const options = parseOptions(call.args, { short: "p", long: ["suffix"] });
  const { tmp } = call.shell.session.place;
  const [template] = options.operands;
  const folder = all(options, "p", "tmpdir").find((each) => each !== "");
  const inTemp = folder ?? (has(options, "p", "tmpdir", "t") || template === undefined ? tmp : null);
  const name = filledIn(template ?? "");
  const made = inTemp === null ? name : `${inTemp}/${name}`;
  mustWrite(call, made);
  return made;
}

/** mktemp replaces the last letters X of the last name alone; those of the folders before it are their own. */
function filledIn(template: string): string {
  const start = template.lastIndexOf("/") + 1;
  const name = template.slice(start);
  const filled = name.replace(/X+(?=[^X]*$)/, unknown.name);
  return template.slice(0, start) + (filled === name ? `${name}${unknown.name}` : filled);
}
